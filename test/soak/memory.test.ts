import { expect, test } from "vitest";
import { liveObjectsTable, risenObjects } from "./live-objects-verdict.ts";
import { type SoakOptions, soak } from "./soak.ts";
import { growthOf, growthTable, type Limits } from "./verdict.ts";

const requests = Number(
  process.env.LONGHAUL_SOAK_REQUESTS ?? 100_000 * Number(process.env.LONGHAUL_SOAK ?? 1),
);

/** Fewer requests only fill caches and warm up compiled code. */
const MIN_REQUESTS = 8_000;

/**
 * Tolerated growth per 10,000 requests: connections come and go, while a leak adds thousands. Code is
 * bounded by the program, but V8 compiles rarely used functions after thousands of requests. RSS follows the highest
 * heap size so far, including garbage, so it rises slightly for a long time.
 */
const LIMITS: Limits = {
  heapBytes: 0.5e6,
  codeBytes: 1.5e6,
  externalBytes: 1e6,
  arrayBufferBytes: 1e6,
  rssBytes: 2e6,
  files: 5,
  timers: 1,
  resources: 5,
  listeners: 1,
  openSessions: 5,
  openDrafts: 1,
  openTails: 1,
};

/** Tolerated rise in live objects, because connections come and go; a leak of one per round would be hundreds. */
const MAX_RISE = 50;
/** Each database checkpoints its journal at 4 MB, or later if a reader delays the checkpoint. */
const MAX_WAL_BYTES = 24e6;

/** Number of messages whose index exceeds the caches of the store. */
const FILLED = 40_000;

const RUNS = [
  { name: "the gateway alone", share: 0.6, recall: "none", fill: 0 },
  { name: "mixed work with recall by words", share: 0.2, recall: "words", fill: FILLED },
  { name: "mixed work with recall by vectors", share: 0.2, recall: "vectors", fill: FILLED },
] as const satisfies readonly { name: string; share: number; recall: SoakOptions["recall"]; fill: number }[];

for (const { name, share, recall, fill } of RUNS) {
  const own = Math.round(requests * share);
  test(`memory stays flat under ${own} requests: ${name}`, async () => {
    const { samples, objects, counts, seconds } = await soak({ requests: own, recall, fill });
    const growth = growthOf(samples, LIMITS);
    const work = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
    console.log(`${name}: ${work.join(", ")} in ${Math.round(seconds)} s`);
    console.log(growthTable(growth));
    console.log(liveObjectsTable(objects));
    expect(counts.failed).toBe(0);
    if (own < MIN_REQUESTS)
      return console.log(`Fewer than ${MIN_REQUESTS} requests say nothing about growth.`);
    expect(
      growth.filter(({ isGrowing }) => isGrowing).map(({ name: grown, slope }) => ({ grown, slope })),
    ).toEqual([]);
    expect(risenObjects(objects, MAX_RISE)).toEqual([]);
    expect(Math.max(...samples.map(({ walBytes }) => walBytes))).toBeLessThan(MAX_WAL_BYTES);
  });
}
