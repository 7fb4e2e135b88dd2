import { join } from "node:path";
import { type Kernel, openKernel, type Session } from "../../../src/kernel/index.ts";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { megabytes, settledMemory } from "../../measure/memory.ts";
import { atMost, type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { SESSION_ID } from "./longhaul.ts";

/** Resources left over by cycles of opening, using and closing. */
interface Kept {
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly handles: number;
  /** Kernels, sessions, drafts and tails that were opened and not closed. */
  readonly unclosed: number;
}

const MAX_WARM_UP = 100;
const CACHE_BATCHES = 5;
const BLOB_BYTES = 100_000;

/** Opens, uses and closes one session repeatedly on one kernel. */
export async function cycleSessions(
  { cycles }: { readonly cycles: number },
  place: ChildPlace,
): Promise<Kept> {
  const corpus = openCorpus(place.corpusFolder);
  const kernel = await openKernel({ path: join(place.folder, "store") });
  await fillPageCache(kernel, corpus);
  const kept = await keptBy(cycles, async (cycle) => {
    const session = await kernel.session(SESSION_ID);
    await use(kernel, session, corpus, cycle);
  });
  // The kernel itself is still open.
  const unclosed = unclosedIn(kernel) - 1;
  await kernel.close();
  return { ...kept, unclosed };
}

/** Opens, uses and closes whole kernels repeatedly. */
export async function cycleKernels(
  { cycles }: { readonly cycles: number },
  place: ChildPlace,
): Promise<Kept> {
  const corpus = openCorpus(place.corpusFolder);
  let unclosed = 0;
  const kept = await keptBy(cycles, async (cycle) => {
    const kernel = await openKernel({ path: join(place.folder, "store") });
    await use(kernel, await kernel.session(SESSION_ID), corpus, cycle);
    await kernel.close();
    unclosed += unclosedIn(kernel);
  });
  return { ...kept, unclosed };
}

/** Fills SQLite's page cache of a few megabytes, which cycles would otherwise fill gradually. */
async function fillPageCache(kernel: Kernel, corpus: Corpus): Promise<void> {
  await using session = await kernel.session(SESSION_ID);
  for (let batch = 0; batch < CACHE_BATCHES; batch++) {
    await session.appendAll(corpus.messages(0, 1_000).map(({ role, text }) => ({ role, text })));
  }
}

async function keptBy(
  cycles: number,
  run: (cycle: number) => Promise<void>,
): Promise<Omit<Kept, "unclosed">> {
  const warmUp = Math.min(cycles, MAX_WARM_UP);
  // Warm-up cycles: late compilation and one-time caches are not leaks.
  for (let cycle = 0; cycle < warmUp; cycle++) await run(cycle);
  const before = await settledMemory();
  const handlesBefore = process.getActiveResourcesInfo().length;
  for (let cycle = 0; cycle < cycles; cycle++) await run(warmUp + cycle);
  const after = await settledMemory();
  return {
    heapBytes: after.heapBytes - before.heapBytes,
    rssBytes: after.rssBytes - before.rssBytes,
    handles: process.getActiveResourcesInfo().length - handlesBefore,
  };
}

/** One cycle: append, page, a draft, a tail that ends by itself, one that ends with the session, and a blob. */
async function use(kernel: Kernel, session: Session, corpus: Corpus, cycle: number): Promise<void> {
  const { seq } = await session.append({ role: "user", text: corpus.message(cycle).text });
  await session.page();
  const draft = session.draft({ role: "assistant", text: "" });
  draft.write(corpus.message(cycle + 1).text);
  await draft.finish();
  for await (const entry of session.tail({ after: seq - 1 })) if (entry.seq >= seq) break;
  const waiting = session.tail();
  const ended = waiting.next();
  const data = new Uint8Array(BLOB_BYTES).fill(cycle % 10);
  const { message } = await session.append({ role: "user", parts: [{ type: "data", data }] });
  const part = message.parts[0];
  if (part?.type === "blob") await kernel.blobs.bytes(part.digest);
  await session.close();
  await ended;
  await waiting.return(undefined);
}

function unclosedIn(kernel: Kernel): number {
  return Object.values(kernel.counts()).reduce((sum, { opened, closed }) => sum + opened - closed, 0);
}

async function* rowsOf(id: string, run: () => Promise<Kept>): AsyncGenerator<Row> {
  const kept = await run();
  yield toRow({ id: `${id}.heap`, value: megabytes(kept.heapBytes), unit: "MB kept", goal: atMost(1, "MB") });
  yield toRow({ id: `${id}.rss`, value: megabytes(kept.rssBytes), unit: "MB kept", goal: atMost(5, "MB") });
  yield toRow({ id: `${id}.handles`, value: kept.handles, unit: "left", goal: atMost(0, "") });
  yield toRow({ id: `${id}.unclosed`, value: kept.unclosed, unit: "objects", goal: atMost(0, "") });
}

/** Resources left over by cycles of opening, using and closing. */
export const cycles: Measurement = {
  name: "cycles",
  async *run(bench: Bench) {
    const sessions = { cycles: bench.isQuick ? 60 : 1_000 };
    const kernels = { cycles: bench.isQuick ? 30 : 100 };
    yield* rowsOf("cycles.session", () => bench.child("sessions", import.meta.url, cycleSessions, sessions));
    yield* rowsOf("cycles.kernel", () => bench.child("kernels", import.meta.url, cycleKernels, kernels));
  },
};
