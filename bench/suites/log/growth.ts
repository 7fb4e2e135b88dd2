import { join } from "node:path";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { currentMemory, type MemoryReading, settledMemory } from "../../measure/memory.ts";
import { median, percentile } from "../../measure/percentile.ts";
import { contestantOf } from "./contestants.ts";
import { counted, sizesOf } from "./sizes.ts";
import { warmUp, warmUpLength } from "./warm-up.ts";

interface Plan {
  readonly name: string;
  readonly folder: string;
  /** Lengths at which memory is read, ascending; growth ends at the last one. */
  readonly marks: readonly number[];
  /** Start of the first of two windows of timed appends; the second ends with the growth. */
  readonly timedFrom?: number;
  /** Appends to a throwaway conversation before the first window. */
  readonly warmUpCount: number;
}

/** Observations by length of a growing conversation. */
export interface Growth {
  /** The conversation, kept on disk for other measurements until the bench ends. */
  readonly folder: string;
  readonly memory: Readonly<Record<number, MemoryReading>>;
  /** RSS before the forced collections, including V8's young generation. */
  readonly busyRssBytes: Readonly<Record<number, number>>;
  readonly appendsPerSecond: number;
  /** 99th percentile of an append in both windows. */
  readonly p99Us?: { readonly early: number; readonly late: number };
}

const WINDOW = 5_000;
/** A window's figure is the median of its parts, so that one slow moment of the machine does not decide it. */
const WINDOW_PARTS = 5;

/** Grows a conversation by awaited single appends and records memory and append times. */
export async function watchGrowth(
  { name, folder, marks, timedFrom, warmUpCount }: Plan,
  place: ChildPlace,
): Promise<Growth> {
  const corpus = openCorpus(place.corpusFolder);
  const contestant = contestantOf(name);
  if (warmUpCount > 0) await warmUp(contestant, corpus, place.folder, warmUpCount);
  const last = marks.at(-1) ?? 0;
  // Both windows are allocated up front, so that they do not count as growth.
  const early = new Window(timedFrom ?? 0);
  const late = new Window(last - WINDOW);
  const memory: Record<number, MemoryReading> = {};
  const busyRssBytes: Record<number, number> = {};
  let totalUs = 0;
  const conversation = await contestant.open(folder);
  for (let index = 0; index < last; index++) {
    if (marks.includes(index)) {
      busyRssBytes[index] = currentMemory().rssBytes;
      memory[index] = await settledMemory();
      // The forced collection also drops compiled code, which the window starting here must not pay for.
      if (warmUpCount > 0 && index === timedFrom) await warmUp(contestant, corpus, place.folder, warmUpCount);
    }
    const message = corpus.message(index);
    const startedMs = performance.now();
    await conversation.append(message);
    const tookUs = (performance.now() - startedMs) * 1_000;
    totalUs += tookUs;
    early.add(index, tookUs);
    late.add(index, tookUs);
  }
  busyRssBytes[last] = currentMemory().rssBytes;
  memory[last] = await settledMemory();
  // Used once more, so that the corpus is not collected before the last reading.
  await conversation.append(corpus.message(last));
  await conversation.close();
  const appendsPerSecond = (last / totalUs) * 1e6;
  return {
    folder,
    memory,
    busyRssBytes,
    appendsPerSecond,
    ...(timedFrom !== undefined && { p99Us: { early: early.p99(), late: late.p99() } }),
  };
}

/** Append times in one window of a conversation. */
class Window {
  readonly #from: number;
  readonly #tookUs = new Float64Array(WINDOW);

  constructor(from: number) {
    this.#from = from;
  }

  add(index: number, tookUs: number): void {
    if (index >= this.#from && index < this.#from + WINDOW) this.#tookUs[index - this.#from] = tookUs;
  }

  p99(): number {
    const partLength = WINDOW / WINDOW_PARTS;
    const parts = Array.from({ length: WINDOW_PARTS }, (_, part) =>
      this.#tookUs.subarray(part * partLength, (part + 1) * partLength),
    );
    return median(parts.map((part) => percentile(part, 0.99)));
  }
}

/** longhaul's largest session; created once per bench, because it takes the longest. */
export function largeGrowth(bench: Bench): Promise<Growth> {
  const { start, early, small, large } = sizesOf(bench);
  const warmUpCount = bench.isQuick ? 0 : warmUpLength(bench);
  return grow(bench, { name: "longhaul", marks: [start, small, large], timedFrom: early, warmUpCount });
}

/** A contestant's conversation at the length at which peers are compared; created once per bench. */
export function smallGrowth(bench: Bench, name: string): Promise<Growth> {
  const { start, small } = sizesOf(bench);
  return grow(bench, { name, marks: [start, small], warmUpCount: 0 });
}

function grow(bench: Bench, plan: Omit<Plan, "folder">): Promise<Growth> {
  const last = plan.marks.at(-1) ?? 0;
  const folder = join(bench.folder, `${plan.name}-${last}`);
  const step = `${plan.name} growing to ${counted(last)}`;
  return bench.once(folder, () => bench.child(step, import.meta.url, watchGrowth, { ...plan, folder }));
}
