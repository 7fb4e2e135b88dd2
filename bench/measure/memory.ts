import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./percentile.ts";

/** What a process holds. */
export interface MemoryReading {
  /** Live JavaScript objects and the buffers that belong to them. */
  readonly heapBytes: number;
  readonly rssBytes: number;
}

const READINGS = 3;
const PAUSE_MS = 5;

/**
 * What the process still holds when V8 has given back all it can: the median of several readings, each after a forced
 * collection of the thorough kind. An ordinary one keeps the room for young objects, which V8 doubles again and again
 * in any busy process, up to more than 100 MB, whatever the process holds on to.
 */
export async function settledMemory(): Promise<MemoryReading> {
  const readings: MemoryReading[] = [];
  for (let reading = 0; reading < READINGS; reading++) {
    forcedCollection()({ type: "major", execution: "sync", flavor: "last-resort" });
    // Finalizers, and pages that are given back in the background, come a little later.
    await sleep(PAUSE_MS);
    readings.push(currentMemory());
  }
  return {
    heapBytes: median(readings.map(({ heapBytes }) => heapBytes)),
    rssBytes: median(readings.map(({ rssBytes }) => rssBytes)),
  };
}

/** What the process holds right now, garbage and spare room included. */
export function currentMemory(): MemoryReading {
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, rssBytes: rss };
}

/** Removes garbage before something is timed. */
export function collectGarbage(): void {
  forcedCollection()();
}

/** The largest RSS this process has ever had. */
export function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** Bytes in megabytes of a million. */
export function megabytes(bytes: number): number {
  return bytes / 1e6;
}

function forcedCollection(): NodeJS.GCFunction {
  if (!globalThis.gc) throw new Error("This process was started without --expose-gc.");
  return globalThis.gc;
}
