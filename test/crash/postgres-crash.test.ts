import pg from "pg";
import { describe, expect, onTestFinished } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { type Child, startChild } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { textOf } from "../support/kernel.ts";
import { startPostgres } from "../support/postgres/postgres-server.ts";
import { createSchemaUrl, describeProblem, findTestPostgres } from "../support/postgres/test-postgres.ts";
import { proofRounds, proofTest, sizedTest } from "../support/proof.ts";
import { crashWriter, PLACES } from "./rounds.ts";

const server = await findTestPostgres();

interface Acknowledged {
  readonly session: string;
  readonly seq: number;
  readonly text: string;
}

/** Collects the acknowledged commits of a writer; a kill may truncate the last line. */
async function collect(child: Child, into: Acknowledged[]): Promise<void> {
  for await (const line of child.lines) {
    const [, session = "", seq, text = ""] = /^(\S+) (\d+) (\w+:\d+)$/.exec(line) ?? [];
    if (seq !== undefined) into.push({ session, seq: Number(seq), text });
  }
}

/** Checks that each acknowledged message is at its seq, and that no message is in the log twice. */
async function checkLog(store: string, acknowledged: readonly Acknowledged[]): Promise<void> {
  await using kernel = await openKernel({ store, embedder: null });
  const ids = (await kernel.sessions()).map(({ id }) => id);
  for (const id of ids) {
    const session = await kernel.session(id);
    const { seq: head } = await kernel.head(id);
    const bySeq = new Map<number, string>();
    for await (const entry of session.entries()) bySeq.set(entry.seq, textOf(entry));
    expect([...bySeq.keys()]).toEqual(Array.from({ length: head }, (_, index) => index + 1));
    for (const { seq, text } of acknowledged.filter((one) => one.session === id))
      expect([seq, bySeq.get(seq)]).toEqual([seq, text]);
    const texts = [...bySeq.values()].filter((text) => /^\w+:\d+$/.test(text));
    expect(texts.length).toBe(new Set(texts).size);
  }
}

describe.skipIf("problem" in server)(`crashes around PostgreSQL (${describeProblem(server)})`, () => {
  sizedTest("appends whose connections the server cuts are each acknowledged once", async () => {
    const store = createSchemaUrl(server);
    await using kernel = await openKernel({ store, embedder: null });
    const session = await kernel.session("s");
    const killer = new pg.Client({ connectionString: "url" in server ? server.url : "" });
    await killer.connect();
    onTestFinished(() => killer.end());
    const acknowledged: Acknowledged[] = [];
    const schema = /schema=(\w+)/.exec(store)?.[1];
    const kill = async () => {
      for (let round = 0; round < proofRounds(40, 4); round++) {
        const before = acknowledged.length;
        // Between the kills something must get through, for a connection takes longer than an append.
        await eventually("16 appends got through", () => acknowledged.length >= before + 16);
        await killer.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'longhaul' AND query LIKE $1",
          [`%${schema}%`],
        );
      }
      isDone = true;
    };
    let isDone = false;
    const killing = kill();
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let count = 0; !isDone; count++) {
          const text = `w${writer}:${count}`;
          const { seq } = await session.append({ role: "user", text });
          acknowledged.push({ session: "s", seq, text });
        }
      }),
    );
    await killing;
    await checkLog(store, acknowledged);
  });

  proofTest.each(PLACES)(
    "every acknowledged append survives a SIGKILL $moment $call of '$way' over PostgreSQL, once and in order",
    async (place) => {
      const store = createSchemaUrl(server);
      const { found } = await crashWriter(store, 1, place, 0);
      await crashWriter(store, 2, place, found);
    },
  );

  proofTest(
    "writers in four processes, some of them killed, lose and double nothing while the server crashes under them",
    async () => {
      const own = await startPostgres({ settings: { max_connections: "100" } });
      onTestFinished(() => own.stop());
      const store = `${own.url}?schema=crash`;
      await (await openKernel({ store })).close();
      const acknowledged: Acknowledged[] = [];
      const start = (name: string) => {
        const child = startChild(new URL("./postgres-writer.ts", import.meta.url), [store, name]);
        return { child, collected: collect(child, acknowledged) };
      };
      const writers = ["a", "b", "c", "d"].map(start);
      for (let round = 0; round < 6; round++) {
        const before = acknowledged.length;
        // Waits for the writers to go on after the last crash.
        await eventually("the writers went on", () => acknowledged.length > before + 40 + round);
        await own.restart();
        const victim = writers[round % 2];
        if (round < 2 && victim) {
          victim.child.process.kill("SIGKILL");
          await victim.collected;
          writers[round % 2] = start(`${"ab"[round]}again`);
        }
      }
      for (const { child } of writers) child.process.stdin?.write("stop\n");
      for (const { child, collected } of writers) {
        await collected;
        expect(await child.ended(), child.errors()).toBe(0);
      }
      await checkLog(store, acknowledged);
    },
    300_000,
  );
});
