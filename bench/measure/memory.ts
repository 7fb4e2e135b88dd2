import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./percentile.ts";

/** Memory of a process. */
export interface MemoryReading {
  /** Live JavaScript objects and their buffers. */
  readonly heapBytes: number;
  readonly rssBytes: number;
}

const READINGS = 3;
const PAUSE_MS = 5;

/**
 * Memory after V8 has released all it can: the median of several readings, each after a forced last-resort collection.
 * An ordinary collection keeps the young generation, which V8 grows to more than 100 MB in any busy process.
 */
export async function settledMemory(): Promise<MemoryReading> {
  const readings: MemoryReading[] = [];
  for (let reading = 0; reading < READINGS; reading++) {
    forcedCollection()({ type: "major", execution: "sync", flavor: "last-resort" });
    // Finalizers run and pages are released a little later.
    await sleep(PAUSE_MS);
    readings.push(currentMemory());
  }
  return {
    heapBytes: median(readings.map(({ heapBytes }) => heapBytes)),
    rssBytes: median(readings.map(({ rssBytes }) => rssBytes)),
  };
}

/** Current memory, including garbage and spare capacity. */
export function currentMemory(): MemoryReading {
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, rssBytes: rss };
}

/** Collects garbage before a timed section. */
export function collectGarbage(): void {
  forcedCollection()();
}

/** The largest RSS this process has ever had. */
export function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** Bytes in units of 10^6. */
export function megabytes(bytes: number): number {
  return bytes / 1e6;
}

function forcedCollection(): NodeJS.GCFunction {
  if (!globalThis.gc) throw new Error("This process was started without --expose-gc.");
  return globalThis.gc;
}
