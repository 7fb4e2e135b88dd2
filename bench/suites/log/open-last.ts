import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { openCorpus } from "../../corpus.ts";
import { collectGarbage, megabytes } from "../../measure/memory.ts";
import { median } from "../../measure/percentile.ts";
import { atMostOfBeside, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { contestantOf } from "./contestants.ts";
import { largeGrowth, smallGrowth } from "./growth.ts";
import { counted, sizesOf } from "./sizes.ts";

interface Opening {
  readonly tookMs: number;
  readonly rssBytes: number;
}

const PAGE = 50;
const THROWAWAY_MESSAGES = 200;
const SETTLE_MS = 20;

/** Opens a conversation and reads its last page, in a process that has opened only a short one before. */
export async function openLast(
  { name, folder }: { readonly name: string; readonly folder: string },
  place: ChildPlace,
): Promise<Opening> {
  const contestant = contestantOf(name);
  await loadCode(name, place);
  // Not the thorough collection of settledMemory, which would drop compiled code.
  collectGarbage();
  await sleep(SETTLE_MS);
  const rssBefore = process.memoryUsage.rss();
  const startedMs = performance.now();
  const conversation = await contestant.open(folder);
  const texts = await conversation.last(PAGE);
  const tookMs = performance.now() - startedMs;
  const rssBytes = process.memoryUsage.rss() - rssBefore;
  if (texts.length !== PAGE) throw new Error(`${name} gave ${texts.length} messages instead of ${PAGE}.`);
  await conversation.close();
  return { tookMs, rssBytes };
}

/** Loads the modules in advance, because loading them is not measured. */
async function loadCode(name: string, place: ChildPlace): Promise<void> {
  const contestant = contestantOf(name);
  const corpus = openCorpus(place.corpusFolder);
  const folder = mkdtempSync(join(place.folder, "throwaway-"));
  const written = await contestant.open(folder);
  for (let index = 0; index < THROWAWAY_MESSAGES; index++) await written.append(corpus.message(index));
  await written.close();
  const read = await contestant.open(folder);
  await read.last(PAGE);
  await read.close();
}

/** Opens each conversation several times in turn, each time in a new process; returns the median of each. */
async function medianOpenings(
  bench: Bench,
  name: string,
  folders: readonly string[],
  times: number,
): Promise<Opening[]> {
  const openings = folders.map((): Opening[] => []);
  for (let time = 0; time < times; time++) {
    for (const [index, folder] of folders.entries()) {
      openings[index]?.push(await bench.child(name, import.meta.url, openLast, { name, folder }));
    }
  }
  return openings.map((own) => ({
    tookMs: median(own.map(({ tookMs }) => tookMs)),
    rssBytes: median(own.map(({ rssBytes }) => rssBytes)),
  }));
}

/** Opening a long session and reading its last 50 messages. */
export const openLastPage: Measurement = {
  name: "open.last50",
  async *run(bench) {
    const { small, large } = sizesOf(bench);
    const times = bench.isQuick ? 2 : 7;
    const folders = [(await smallGrowth(bench, "longhaul")).folder, (await largeGrowth(bench)).folder];
    const [atSmall, atLarge] = (await medianOpenings(bench, "longhaul", folders, times)) as [
      Opening,
      Opening,
    ];
    yield toRow({
      id: "open.last50.flat",
      value: atLarge.tookMs,
      unit: `ms at ${counted(large)}`,
      beside: `itself at ${counted(small)}`,
      besideValue: atSmall.tookMs,
    });
    yield toRow({
      id: "open.last50.rss.flat",
      value: megabytes(atLarge.rssBytes),
      unit: `MB at ${counted(large)}`,
      beside: `itself at ${counted(small)}`,
      besideValue: megabytes(atSmall.rssBytes),
    });
    for (const { peer, multiple, peerTimes } of [
      { peer: "mastra", multiple: 0.333, peerTimes: times },
      // pi reads its whole file, so its goal is meaningful only on a long one.
      { peer: "pi", multiple: bench.isQuick ? undefined : 0.01, peerTimes: 3 },
    ]) {
      const theirs = await bench.beside(peer, async () => {
        const { folder } = await smallGrowth(bench, peer);
        return (await medianOpenings(bench, peer, [folder], bench.isQuick ? 1 : peerTimes))[0] as Opening;
      });
      const beside = `${peer} at ${counted(small)}`;
      const goal = multiple === undefined ? undefined : atMostOfBeside(multiple);
      const besideValue = theirs?.tookMs ?? null;
      yield toRow({
        id: `open.last50.small.${peer}`,
        value: atSmall.tookMs,
        unit: `ms at ${counted(small)}`,
        beside,
        besideValue,
        goal,
      });
      yield toRow({
        id: `open.last50.large.${peer}`,
        value: atLarge.tookMs,
        unit: `ms at ${counted(large)}`,
        beside,
        besideValue,
        goal,
      });
      yield toRow({
        id: `open.last50.rss.${peer}`,
        value: megabytes(atSmall.rssBytes),
        unit: `MB at ${counted(small)}`,
        beside,
        besideValue: theirs && megabytes(theirs.rssBytes),
      });
    }
  },
};
