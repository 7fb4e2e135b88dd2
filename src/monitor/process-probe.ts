import { readdirSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { MonitorSample } from "./monitor-sample.ts";

type ProcessFacts = Pick<
  MonitorSample,
  | "usedBytes"
  | "heapUsedBytes"
  | "heapTotalBytes"
  | "heapLimitBytes"
  | "rssBytes"
  | "externalBytes"
  | "arrayBufferBytes"
  | "eventLoop"
  | "files"
  | "listeners"
  | "childProcesses"
>;

/** Time between two looks at the event loop; a shorter one would wake an idle process often. */
const RESOLUTION_MS = 250;
const NANOSECONDS = 1e6;
const OPEN_FILES = "/proc/self/fd";

/** Measures the process. Its timer does not keep the process alive. */
export class ProcessProbe {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #utilization = performance.eventLoopUtilization();

  constructor() {
    this.#delay.enable();
  }

  read(): ProcessFacts {
    const { heapUsed, heapTotal, rss, external, arrayBuffers } = process.memoryUsage();
    const busy = performance.eventLoopUtilization(this.#utilization).utilization;
    this.#utilization = performance.eventLoopUtilization();
    const { mean, max } = this.#delay;
    this.#delay.reset();
    return {
      usedBytes: heapUsed + external,
      heapUsedBytes: heapUsed,
      heapTotalBytes: heapTotal,
      heapLimitBytes: getHeapStatistics().heap_size_limit,
      rssBytes: rss,
      externalBytes: external,
      arrayBufferBytes: arrayBuffers,
      eventLoop: { meanMs: toDelayMs(mean), maxMs: toDelayMs(max), busy: Number.isFinite(busy) ? busy : 0 },
      files: countFiles(),
      listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
      childProcesses: process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length,
    };
  }

  close(): void {
    this.#delay.disable();
  }
}

/** The histogram counts the whole interval; without a value it is not a number. */
function toDelayMs(nanoseconds: number): number {
  if (!Number.isFinite(nanoseconds)) return 0;
  return Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS);
}

function countFiles(): number {
  try {
    return readdirSync(OPEN_FILES).length;
  } catch {
    return 0;
  }
}
