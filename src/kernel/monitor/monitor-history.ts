import type { MonitorEvent, MonitorSample, PressureLevel, ReliefReport } from "./monitor-sample.ts";

/** The numbers of a sample that charts show. */
interface MonitorPoint {
  readonly at: number;
  readonly level: PressureLevel;
  readonly usedBytes: number;
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  readonly rssBytes: number;
  readonly externalBytes: number;
  /** Bytes of each cache that is not empty. */
  readonly caches: Readonly<Record<string, number>>;
  readonly cacheBytes: number;
  readonly eventLoop: MonitorSample["eventLoop"];
  readonly disk: MonitorSample["disk"];
  readonly files: number;
  readonly listeners: number;
  readonly childProcesses: number;
  readonly growthPerHour: number;
}

/** An event other than a sample, as it was told to listeners. */
interface MonitorNote {
  readonly at: number;
  readonly type: Exclude<MonitorEvent["type"], "sample" | "images">;
  readonly text: string;
  /** The effect of a relief. */
  readonly report?: ReliefReport;
}

/** Points from the oldest to the newest, and events likewise. */
export interface MonitorRecord {
  readonly points: readonly MonitorPoint[];
  readonly notes: readonly MonitorNote[];
}

/** Every sample of the last three hours, at the default interval. */
const MAX_RECENT = 360;
/** Older samples are kept one in this many, the one with the most memory in use. */
const STRETCH = 20;
/** A week more at the default interval. */
const MAX_OLDER = 1_000;
const MAX_NOTES = 200;

/** Keeps the numbers of past samples for charts; bounded to about 1 MB. */
export class MonitorHistory {
  #older: MonitorPoint[] = [];
  #recent: MonitorPoint[] = [];
  #notes: MonitorNote[] = [];
  #peak: MonitorPoint | undefined;
  #left = 0;

  add(sample: MonitorSample): void {
    this.#recent.push(toPoint(sample));
    if (this.#recent.length > MAX_RECENT) this.#age(this.#recent.shift() as MonitorPoint);
  }

  addNote(note: MonitorNote): void {
    this.#notes.push(note);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
  }

  /** Everything at or after a time. */
  read(since = 0): MonitorRecord {
    const isWanted = ({ at }: { readonly at: number }) => at >= since;
    return {
      points: [...this.#older, ...this.#recent].filter(isWanted),
      notes: this.#notes.filter(isWanted),
    };
  }

  #age(point: MonitorPoint): void {
    if (!this.#peak || point.usedBytes > this.#peak.usedBytes) this.#peak = point;
    if (++this.#left < STRETCH) return;
    this.#older.push(this.#peak);
    if (this.#older.length > MAX_OLDER) this.#older.shift();
    this.#peak = undefined;
    this.#left = 0;
  }
}

function toPoint(sample: MonitorSample): MonitorPoint {
  const { at, level, usedBytes, heapUsedBytes, heapTotalBytes, rssBytes, externalBytes } = sample;
  const { cacheBytes, eventLoop, disk, files, listeners, childProcesses, growthPerHour } = sample;
  const caches = Object.fromEntries(
    sample.caches.filter(({ sizeBytes }) => sizeBytes > 0).map(({ name, sizeBytes }) => [name, sizeBytes]),
  );
  return {
    ...{ at, level, usedBytes, heapUsedBytes, heapTotalBytes, rssBytes, externalBytes, caches },
    ...{ cacheBytes, eventLoop, disk, files, listeners, childProcesses, growthPerHour },
  };
}
