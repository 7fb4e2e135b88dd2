// Another process on a store: appends when asked to, or counts up in a session together with others.
import { createInterface } from "node:readline";
import type { EntryKind } from "../../src/model/entry.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

interface WriteRequest {
  readonly session: string;
  readonly kind?: EntryKind;
  readonly expectedHead?: number;
  /** Appends the next number this many times. */
  readonly rounds?: number;
}

const store = await openSqliteStore({ path: process.argv[2] as string });

async function append(session: string, kind: EntryKind, text: string, expectedHead: number | undefined) {
  const entries = [{ kind, at: 1, payload: Buffer.from(text) }];
  const [outcome] = await store.entries.append([
    { session, entries, ...(expectedHead !== undefined && { expectedHead }) },
  ]);
  return outcome;
}

async function countUp(session: string, rounds: number): Promise<object> {
  let conflicts = 0;
  for (let done = 0; done < rounds; ) {
    const { seq } = await store.entries.head(session);
    if ((await append(session, "message", `${seq + 1}`, seq)) instanceof Error) conflicts++;
    else done++;
    await new Promise(setImmediate);
  }
  return { done: rounds, conflicts };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { session, kind = "message", expectedHead, rounds }: WriteRequest = JSON.parse(line);
  const outcome = rounds ? undefined : await append(session, kind, "theirs", expectedHead);
  const answer = rounds
    ? await countUp(session, rounds)
    : outcome instanceof Error
      ? { code: outcome.code }
      : { seq: outcome?.firstSeq };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await store.close();
