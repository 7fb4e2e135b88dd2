import { rmSync } from "node:fs";
import { join } from "node:path";
import { megabytes } from "../../measure/memory.ts";
import { atMost, type Goal, type Row, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type IndexAnswer, measureIndexing, measureRecall, type RecallAnswer } from "./measure-recall.ts";
import { CHUNKS_PER_MESSAGE } from "./open-memory.ts";

const atLeast = (limit: number, unit: string): Goal => ({
  text: `>= ${limit} ${unit}`,
  isMet: (value) => value >= limit,
});

/** Maximum CPU milliseconds of a recall, by number of chunks. */
const GOALS: Readonly<Record<number, { readonly p50?: number; readonly p99?: number }>> = {
  100000: { p50: 15, p99: 60 },
  1000000: { p50: 60 },
};

const PEER = "sqlite-vec scan + FTS5, by ranks";
/** Building a larger plain stack takes longer than everything else. */
const MAX_FOR_PEER = 100_000;

/** Indexing and recall at several sizes, compared with the plain stack in the same run. */
export const recall: Measurement = {
  name: "recall",
  async *run(bench) {
    for (const size of bench.isQuick ? [10_000] : [10_000, 100_000, 1_000_000]) {
      const module = new URL("./measure-recall.ts", import.meta.url).href;
      const folder = join(bench.folder, `memory-${size}`);
      const messages = size / CHUNKS_PER_MESSAGE;
      const indexed = await bench.child(`${size} chunks`, module, measureIndexing, { folder, messages });
      const question = { folder, messages, recalls: 200, hasPeer: size <= MAX_FOR_PEER };
      const answer = await bench.child(`${size} recalls`, module, measureRecall, question);
      rmSync(folder, { recursive: true, force: true });
      yield* rowsOf(size, indexed, answer);
    }
  },
};

function* rowsOf(size: number, indexed: IndexAnswer, answer: RecallAnswer): Generator<Row> {
  const id = (what: string) => `recall.${size / 1_000}k.${what}`;
  const goals = GOALS[size];
  const limit = (value: number | undefined) => (value === undefined ? undefined : atMost(value, "ms"));
  const ms = "ms of CPU";
  yield toRow({ id: id("p50"), value: answer.recall.p50, unit: ms, goal: limit(goals?.p50) });
  yield toRow({ id: id("p99"), value: answer.recall.p99, unit: ms, goal: limit(goals?.p99) });
  yield toRow({ id: id("readable.p50"), value: answer.readable.p50, unit: "ms after an append" });
  yield toRow({ id: id("readable.p99"), value: answer.readable.p99, unit: "ms after an append" });
  yield toRow({ id: id("candidates.p50"), value: answer.candidates.p50, unit: ms });
  yield toRow({
    id: id("search.p50"),
    value: answer.search.p50,
    unit: ms,
    ...(answer.peer && { beside: PEER, besideValue: answer.peer.p50 }),
    goal: answer.peer
      ? { text: "<= 0.2 of beside", isMet: (_, ratio) => ratio !== null && ratio <= 0.2 }
      : undefined,
  });
  yield toRow({
    id: id("index.text"),
    value: indexed.textChunksPerSecond,
    unit: "chunks/s of CPU",
    goal: atLeast(5_000, "chunks/s"),
  });
  yield toRow({
    id: id("index.embedded"),
    value: indexed.embeddedChunksPerSecond,
    unit: "chunks/s of CPU",
    goal: atLeast(2_000, "chunks/s"),
  });
  yield toRow({
    id: id("bytes"),
    value: indexed.bytesPerByte,
    unit: "bytes of index per byte of text",
    goal: atMost(1.5, "bytes"),
  });
  yield toRow({ id: id("rss"), value: megabytes(answer.rssBytes), unit: "MB", goal: atMost(400, "MB") });
}
