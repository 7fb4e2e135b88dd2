import { join } from "node:path";
import type { ChildPlace } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { bytesWritten } from "../../measure/bytes-written.ts";
import { folderBytes } from "../../measure/folder-bytes.ts";
import type { BenchMessage, Contestant, Conversation } from "../../peers/contestant.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { contestantOf } from "./contestants.ts";
import { counted } from "./sizes.ts";

interface Plan {
  readonly name: string;
  readonly count: number;
}

/** Bytes per byte of payload. */
interface Bytes {
  /** Null where the system does not count written bytes. */
  readonly written: number | null;
  readonly onDisk: number;
}

const GROUP = 32;

/**
 * Bytes written and stored by awaited single appends, and by groups of appends. No warm-up, because nothing is timed.
 */
export async function countBytes({ name, count }: Plan, place: ChildPlace) {
  const corpus = openCorpus(place.corpusFolder);
  const run = (mode: string, groupSize: number) =>
    countRun(contestantOf(name), corpus, join(place.folder, mode), count, groupSize);
  return { single: await run("single", 1), group32: await run("group32", GROUP) };
}

/** Counts everything from before opening until after closing. */
async function countRun(
  contestant: Contestant,
  corpus: Corpus,
  folder: string,
  count: number,
  groupSize: number,
): Promise<Bytes> {
  let payloadBytes = 0;
  const before = bytesWritten();
  const conversation = await contestant.open(folder);
  for (let at = 0; at < count; at += groupSize) {
    const group = corpus.messages(at, Math.min(at + groupSize, count));
    for (const { sizeBytes } of group) payloadBytes += sizeBytes;
    await appendGroup(conversation, group);
  }
  await conversation.close();
  const after = bytesWritten();
  return {
    written: before === null || after === null ? null : (after - before) / payloadBytes,
    onDisk: folderBytes(folder) / payloadBytes,
  };
}

/** Peers without a batch call get the messages one by one. */
async function appendGroup(conversation: Conversation, group: readonly BenchMessage[]): Promise<void> {
  if (group.length > 1 && conversation.appendMany) return conversation.appendMany(group);
  for (const message of group) await conversation.append(message);
}

const LENGTH = { full: 10_000, quick: 2_000 };
/** Peers whose cost grows with the conversation are measured on a short one. */
const PEERS = [
  { peer: "pi", full: 10_000, quick: 1_000 },
  { peer: "mastra", full: 10_000, quick: 300 },
  { peer: "langgraph", full: 300, quick: 32 },
  { peer: "whole-array", full: 1_000, quick: 60 },
] as const;
const MODES = [
  { mode: "single", goal: atMost(3, "") },
  { mode: "group32", goal: atMost(1.4, "") },
] as const;

/** Bytes written to and stored on disk per byte of payload. */
export const bytes: Measurement = {
  name: "bytes",
  async *run(bench) {
    const lengthOf = ({ full, quick }: typeof LENGTH) => (bench.isQuick ? quick : full);
    const run = (name: string, count: number) =>
      bench.child(name, import.meta.url, countBytes, { name, count });
    const unit = "per payload byte";
    const ours = await run("longhaul", lengthOf(LENGTH));
    if (ours.single.written === null) bench.note("Bytes written are counted on Linux only; skipped.");
    for (const { mode, goal } of MODES) {
      yield toRow({ id: `bytes.${mode}`, value: ours[mode].written, unit, goal });
      yield toRow({ id: `disk.${mode}`, value: ours[mode].onDisk, unit });
    }
    for (const { peer, ...lengths } of PEERS) {
      const count = lengthOf(lengths);
      const theirs = await bench.beside(peer, () => run(peer, count));
      const beside = `${peer}, ${counted(count)} messages`;
      for (const { mode } of MODES) {
        yield toRow({
          id: `bytes.${mode}.${peer}`,
          value: ours[mode].written,
          unit,
          beside,
          besideValue: theirs?.[mode].written ?? null,
        });
      }
      yield toRow({
        id: `disk.single.${peer}`,
        value: ours.single.onDisk,
        unit,
        beside,
        besideValue: theirs?.single.onDisk ?? null,
      });
    }
  },
};
