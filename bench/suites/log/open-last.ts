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
import { type Growth, largeGrowth, smallGrowth } from "./growth.ts";
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
  // Not the thorough collection of settledMemory, which would throw away compiled code.
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

/** Loading modules is not what is measured, for nobody. */
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

async function medianOpening(
  bench: Bench,
  name: string,
  { folder }: Growth,
  times: number,
): Promise<Opening> {
  const openings: Opening[] = [];
  for (let time = 0; time < times; time++) {
    openings.push(await bench.child(name, import.meta.url, openLast, { name, folder }));
  }
  return {
    tookMs: median(openings.map(({ tookMs }) => tookMs)),
    rssBytes: median(openings.map(({ rssBytes }) => rssBytes)),
  };
}

/** Opening a long session and reading its last 50 messages. */
export const openLastPage: Measurement = {
  name: "open.last50",
  async *run(bench) {
    const { small, large } = sizesOf(bench);
    const times = bench.isQuick ? 2 : 7;
    const atSmall = await medianOpening(bench, "longhaul", await smallGrowth(bench, "longhaul"), times);
    const atLarge = await medianOpening(bench, "longhaul", await largeGrowth(bench), times);
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
      // pi reads its whole file, so that its goal only means something on a long one.
      { peer: "pi", multiple: bench.isQuick ? undefined : 0.01, peerTimes: 3 },
    ]) {
      const theirs = await bench.beside(peer, async () =>
        medianOpening(bench, peer, await smallGrowth(bench, peer), bench.isQuick ? 1 : peerTimes),
      );
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
