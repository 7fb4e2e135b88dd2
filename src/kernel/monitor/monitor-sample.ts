import type { CacheSize } from "../../model/base/caches.ts";
import type { SizedCount } from "../../model/base/work-meter.ts";

/** How much memory the process uses, compared with its limits. */
export type PressureLevel = "normal" | "warning" | "critical";

/** A number of events and their average time. */
interface AverageTime {
  readonly count: number;
  readonly averageMs: number;
}

/** One measurement of a kernel and its process. Counts are those since the kernel was opened. */
export interface MonitorSample {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly level: PressureLevel;
  /** Heap and memory outside of it that is in use: the number that the limits apply to. */
  readonly usedBytes: number;
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  /** The size at which V8 ends the process. */
  readonly heapLimitBytes: number;
  readonly rssBytes: number;
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
  /** Messages stored. */
  readonly messages: SizedCount;
  /** Images stored. */
  readonly images: SizedCount;
  /** Images and other blobs that left the cache: by age, by size, or in a relief. */
  readonly freedImages: SizedCount;
  /** Messages that windows hold for the next model calls: the history as the API gets it. */
  readonly apiHistory: SizedCount;
  /** Bytes of appends that wait for a commit. */
  readonly waitingBytes: number;
  /** Caches by name. */
  readonly caches: readonly CacheSize[];
  readonly cacheBytes: number;
  /** Share of their limits that caches may use now; below 1 after critical pressure. */
  readonly cacheShare: number;
  readonly compactions: AverageTime & { readonly lastAt: number };
  readonly saves: AverageTime;
  readonly searches: AverageTime;
  /** Delay of the event loop since the last sample, in milliseconds; busy is a share of the time. */
  readonly eventLoop: { readonly meanMs: number; readonly maxMs: number; readonly busy: number };
  /** Bytes on disk: the database, its write-ahead log, and the blobs. */
  readonly disk: { readonly logBytes: number; readonly journalBytes: number; readonly blobBytes: number };
  /** Open files; 0 where the system does not tell. */
  readonly files: number;
  /** Listeners of the process itself, where leaks collect. */
  readonly listeners: number;
  readonly childProcesses: number;
  /** Growth of used memory in bytes per hour, from the slope of the recent samples; 0 while there are too few. */
  readonly growthPerHour: number;
}

/** The effect of a relief. */
export interface ReliefReport {
  readonly at: number;
  readonly cacheBytesBefore: number;
  readonly cacheBytesAfter: number;
  readonly caches: readonly { readonly name: string; readonly freedBytes: number }[];
  /** Bytes that the write-ahead log returned. */
  readonly journalBytes: number;
  readonly heapBytesBefore: number;
  readonly heapBytesAfter: number;
  /** The share that caches may use from now on. */
  readonly cacheShare: number;
  /** Path of a heap snapshot that was taken before. */
  readonly heapSnapshot?: string;
}

/** A message of the monitor. */
export type MonitorEvent =
  | { readonly type: "sample"; readonly sample: MonitorSample }
  | {
      readonly type: "warning" | "critical" | "normal";
      readonly sample: MonitorSample;
      readonly text: string;
    }
  | {
      /** Images and other blobs have left the cache since the sample before. */
      readonly type: "images";
      readonly count: number;
      readonly freedBytes: number;
      readonly text: string;
    }
  | { readonly type: "growth"; readonly sample: MonitorSample; readonly text: string }
  | { readonly type: "relief"; readonly report: ReliefReport; readonly text: string };
