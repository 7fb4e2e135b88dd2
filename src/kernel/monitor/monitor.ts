import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics, writeHeapSnapshot } from "node:v8";
import type { Log } from "../../log/log.ts";
import type { Store } from "../../log/store/store.ts";
import { checkKind } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { runWithTimeLimit } from "../../model/base/time-limit.ts";
import { checkWholeNumber, isLonghaulError } from "../../model/errors.ts";
import type { Closable } from "../../model/lifetime.ts";
import { MonitorHistory, type MonitorRecord } from "./monitor-history.ts";
import type { MonitorSettings } from "./monitor-options.ts";
import type { MonitorEvent, MonitorSample, PressureLevel, ReliefReport } from "./monitor-sample.ts";

type Listener = (event: MonitorEvent) => void;

/** Samples that the slope is measured over: half an hour at the default interval. */
const MAX_POINTS = 60;
/** Caches refill to this share of their limits after a relief. */
const RELIEVED_SHARE = 0.25;
/** Calm samples after which caches may use their full limits again. */
const CALM_SAMPLES = 10;
/** A store that measures itself for longer is away. */
const MAX_DISK_MS = 5_000;
/** A growth is reported again after this many samples. */
const GROWTH_SILENCE = 120;

/**
 * Measures a kernel and its process at an interval. At critical pressure it drops all caches, lowers their limits and
 * empties the write-ahead log. Its timer does not keep the process alive.
 */
export class Monitor implements Closable {
  readonly #log: Log;
  readonly #settings: MonitorSettings;
  readonly #probe = new ProcessProbe();
  readonly #listeners = new Set<Listener>();
  readonly #points: GrowthPoint[] = [];
  readonly #history = new MonitorHistory();
  #timer: NodeJS.Timeout | undefined;
  #level: PressureLevel = "normal";
  #freedImages: MonitorSample["freedImages"] = { count: 0, bytes: 0 };
  #calmSamples = 0;
  #silentSamples = 0;
  #last: MonitorSample | undefined;
  #relief: ReliefReport | undefined;
  #relieving: Promise<ReliefReport> | undefined;
  #isClosed = false;

  /** Without `isRunning`, it measures only when it is asked to. */
  constructor(log: Log, settings: MonitorSettings, isRunning: boolean) {
    this.#log = log;
    this.#settings = settings;
    if (isRunning)
      this.#timer = setInterval(() => void this.check().catch(() => undefined), settings.intervalMs).unref();
  }

  /** The last sample; undefined before the first. */
  get last(): MonitorSample | undefined {
    return this.#last;
  }

  /** The last relief; undefined if there was none. */
  get lastRelief(): ReliefReport | undefined {
    return this.#relief;
  }

  /** The limits that samples are judged by. */
  get limits(): Pick<MonitorSettings, "intervalMs" | "warningBytes" | "criticalBytes"> {
    const { intervalMs, warningBytes, criticalBytes } = this.#settings;
    return { intervalMs, warningBytes, criticalBytes };
  }

  /** Past samples and events since a time, for charts: all of the last 360 samples, and older ones thinned out. */
  history(since = 0): MonitorRecord {
    return this.#history.read(checkWholeNumber("since", since, 0));
  }

  /** Calls the listener with every event until the returned function is called; a failing listener harms nobody. */
  on(listener: Listener): () => void {
    checkKind("listener", listener, "function");
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Measures now; changes nothing and tells nobody. */
  async sample(): Promise<MonitorSample> {
    const { meter, caches, store, clock } = this.#log;
    const facts = this.#probe.read();
    const sizes = caches.list();
    const windows = sizes.find(({ name }) => name === "windows");
    const disk = await this.#measureDisk(store);
    const at = clock.now();
    return {
      at,
      level: judgePressure(facts, this.#settings),
      ...facts,
      messages: meter.messages,
      images: meter.images,
      freedImages: meter.freedImages,
      apiHistory: { count: windows?.itemCount ?? 0, bytes: windows?.sizeBytes ?? 0 },
      waitingBytes: meter.waitingBytes,
      caches: sizes,
      cacheBytes: sizes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      cacheShare: caches.share,
      compactions: { ...toAverage(meter.compactions), lastAt: meter.compactions.lastAt },
      saves: toAverage(meter.saves),
      searches: toAverage(meter.searches),
      disk,
      growthPerHour: measureGrowth(this.#points).perHour,
    };
  }

  /** Sizes on disk; the last known ones if the store is away, because memory is watched even then. */
  async #measureDisk(store: Store): Promise<MonitorSample["disk"]> {
    try {
      return await runWithTimeLimit({ limitMs: MAX_DISK_MS }, async () => {
        const { logBytes, blobBytes } = await store.size();
        return { logBytes, blobBytes, journalBytes: (await store.journalBytes?.()) ?? 0 };
      });
    } catch (error) {
      if (isLonghaulError(error, "CLOSED") || !this.#last) throw error;
      return this.#last.disk;
    }
  }

  /** Measures, tells the listeners, and relieves critical pressure. The timer calls it; programs may too. */
  async check(): Promise<MonitorSample> {
    const sample = await this.sample();
    if (this.#isClosed) return sample;
    this.#last = sample;
    this.#points.push({ at: sample.at, value: sample.usedBytes });
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.#history.add(sample);
    this.#emit({ type: "sample", sample });
    this.#watchGrowth(sample);
    this.#tellFreedImages(sample);
    const { level } = sample;
    if (level !== this.#level) {
      this.#level = level;
      this.#emit({ type: level, sample, text: describePressure(sample, this.#settings) });
    }
    if (level === "critical") await this.relieve();
    else this.#recover(level);
    return sample;
  }

  /** Drops caches, lowers their limits and empties the write-ahead log; returns the effect. Calls share one run. */
  relieve(): Promise<ReliefReport> {
    this.#relieving ??= this.#relieveOnce().finally(() => {
      this.#relieving = undefined;
    });
    return this.#relieving;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#probe.close();
    this.#listeners.clear();
  }

  /** Tells how many images left the cache since the last time. */
  #tellFreedImages({ freedImages }: MonitorSample): void {
    const count = freedImages.count - this.#freedImages.count;
    const freedBytes = freedImages.bytes - this.#freedImages.bytes;
    this.#freedImages = freedImages;
    if (count > 0) this.#emit({ type: "images", count, freedBytes, text: describeImages(count, freedBytes) });
  }

  async #relieveOnce(): Promise<ReliefReport> {
    const { caches, store, clock } = this.#log;
    const { heapSnapshots, heapSnapshotFolder } = this.#settings;
    const at = clock.now();
    const heapSnapshot =
      heapSnapshots > 0 && heapSnapshotFolder !== undefined
        ? keepHeapSnapshot(heapSnapshotFolder, heapSnapshots, at)
        : undefined;
    const before = caches.list();
    const heapBytesBefore = process.memoryUsage().heapUsed;
    const journalBefore = (await store.journalBytes?.()) ?? 0;
    caches.share = RELIEVED_SHARE;
    this.#calmSamples = 0;
    await caches.dropAll();
    await store.checkpoint?.().catch(() => false);
    globalThis.gc?.();
    const after = new Map(caches.list().map(({ name, sizeBytes }) => [name, sizeBytes]));
    const sum = (sizes: Iterable<number>) => [...sizes].reduce((total, one) => total + one, 0);
    const report: ReliefReport = {
      at,
      cacheBytesBefore: sum(before.map(({ sizeBytes }) => sizeBytes)),
      cacheBytesAfter: sum(after.values()),
      caches: before.map(({ name, sizeBytes }) => ({ name, freedBytes: sizeBytes - (after.get(name) ?? 0) })),
      journalBytes: Math.max(0, journalBefore - ((await store.journalBytes?.()) ?? 0)),
      heapBytesBefore,
      heapBytesAfter: process.memoryUsage().heapUsed,
      cacheShare: caches.share,
      ...dropUndefined({ heapSnapshot }),
    };
    this.#relief = report;
    this.#emit({ type: "relief", report, text: describeRelief(report) });
    return report;
  }

  /** Caches get their full limits back when memory has stayed low for a while. */
  #recover(level: PressureLevel): void {
    const { caches } = this.#log;
    if (caches.share === 1) return;
    this.#calmSamples = level === "normal" ? this.#calmSamples + 1 : 0;
    if (this.#calmSamples >= CALM_SAMPLES) caches.share = 1;
  }

  #watchGrowth(sample: MonitorSample): void {
    if (this.#silentSamples > 0) {
      this.#silentSamples--;
      return;
    }
    const growth = measureGrowth(this.#points);
    if (!growth.isSteady) return;
    this.#silentSamples = GROWTH_SILENCE;
    this.#emit({ type: "growth", sample, text: describeGrowth(growth.perHour, sample) });
  }

  #emit(event: MonitorEvent): void {
    if (event.type !== "sample" && event.type !== "images") {
      const { type, text } = event;
      const report = event.type === "relief" ? { report: event.report } : {};
      this.#history.addNote({ at: this.#log.clock.now(), type, text, ...report });
    }
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // A listener of a program must not stop the relief.
      }
    }
  }
}

function toAverage({ count, totalMs }: { readonly count: number; readonly totalMs: number }) {
  return { count, averageMs: count === 0 ? 0 : totalMs / count };
}

const ENDING = ".heapsnapshot";

/** Writes a heap snapshot into a folder and keeps at most `count` of them; undefined if it could not be written. */
function keepHeapSnapshot(folder: string, count: number, at: number): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `heap-${new Date(at).toISOString().replaceAll(":", "-")}${ENDING}`);
    writeHeapSnapshot(path);
    const names = readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .sort();
    for (const name of names.slice(0, -count)) rmSync(join(folder, name), { force: true });
    return path;
  } catch {
    // A full disk must not turn pressure into a failure.
    return undefined;
  }
}

/** A sentence about a change of the pressure. */
function describePressure(
  { level, usedBytes, heapUsedBytes, heapLimitBytes, cacheBytes, rssBytes }: MonitorSample,
  limits: { readonly warningBytes: number; readonly criticalBytes: number },
): string {
  const used = `${toMegabytes(usedBytes)} in use (heap ${toMegabytes(heapUsedBytes)} of ${toMegabytes(heapLimitBytes)}, resident ${toMegabytes(rssBytes)}, caches ${toMegabytes(cacheBytes)})`;
  if (level === "normal") return `Memory is back to normal: ${used}.`;
  if (level === "warning")
    return `Memory is above the warning limit of ${toMegabytes(limits.warningBytes)}: ${used}.`;
  return `Memory is critical, limit ${toMegabytes(limits.criticalBytes)}: ${used}. Caches are dropped now.`;
}

/** A sentence about a relief. */
function describeRelief(report: ReliefReport): string {
  const { cacheBytesBefore, cacheBytesAfter, journalBytes, heapBytesBefore, heapBytesAfter, cacheShare } =
    report;
  const heap = `heap ${toMegabytes(heapBytesBefore)} → ${toMegabytes(heapBytesAfter)}`;
  return `Freed ${toMegabytes(cacheBytesBefore - cacheBytesAfter)} of ${toMegabytes(cacheBytesBefore)} of caches and ${toMegabytes(journalBytes)} of the write-ahead log; ${heap}; caches may use ${Math.round(cacheShare * 100)}% of their limits for now.`;
}

/** A sentence about images that left the cache. */
function describeImages(count: number, freedBytes: number): string {
  return `${count} ${count === 1 ? "image" : "images"} and other files left the cache: ${toMegabytes(freedBytes)} freed.`;
}

/** A sentence about steady growth. */
function describeGrowth(perHour: number, { usedBytes }: MonitorSample): string {
  return `Memory grows steadily by ${toMegabytes(perHour)} an hour, now ${toMegabytes(usedBytes)}; something may hold on to it.`;
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes >= 1e8 ? 0 : 1)} MB`;
}

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
class ProcessProbe {
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

/** A measured quantity at a time. */
interface GrowthPoint {
  readonly at: number;
  readonly value: number;
}

/** The growth of a quantity. */
interface Growth {
  /** Per hour, by least squares; 0 for too few points. */
  readonly perHour: number;
  /** True if the points rise steadily and by a share that cannot be noise. */
  readonly isSteady: boolean;
}

const HOUR_MS = 3_600_000;
/** Fewer points say nothing: caches fill at first, and collections make the heap jump. */
const MIN_POINTS = 20;
/** Share of the variance that a straight line must explain. */
const MIN_FIT = 0.8;
/** Rise over all points, relative to their mean. */
const MIN_RISE = 0.2;

/** Fits a line to the points. */
export function measureGrowth(points: readonly GrowthPoint[]): Growth {
  const { length } = points;
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || length < MIN_POINTS || last.at <= first.at) return { perHour: 0, isSteady: false };
  const mean = (of: (point: GrowthPoint) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / length;
  const [x, y] = [mean(({ at }) => at), mean(({ value }) => value)];
  const spreadX = points.reduce((sum, { at }) => sum + (at - x) ** 2, 0);
  const spreadY = points.reduce((sum, { value }) => sum + (value - y) ** 2, 0);
  const common = points.reduce((sum, { at, value }) => sum + (at - x) * (value - y), 0);
  const slope = common / spreadX;
  const fit = spreadY === 0 ? 0 : common ** 2 / (spreadX * spreadY);
  const rise = slope * (last.at - first.at);
  return { perHour: slope * HOUR_MS, isSteady: fit >= MIN_FIT && rise >= MIN_RISE * y };
}

/** Limits of memory. */
interface PressureLimits {
  readonly warningBytes: number;
  readonly criticalBytes: number;
}

/** Shares of V8's own limit that count as pressure whatever the configured limits are. */
const HEAP_WARNING = 0.7;
const HEAP_CRITICAL = 0.85;

/** The level of a measurement: by the limits, and by how close the heap is to the size at which V8 ends the process. */
export function judgePressure(
  usage: { readonly usedBytes: number; readonly heapUsedBytes: number; readonly heapLimitBytes: number },
  { warningBytes, criticalBytes }: PressureLimits,
): PressureLevel {
  const { usedBytes, heapUsedBytes, heapLimitBytes } = usage;
  const share = heapLimitBytes > 0 ? heapUsedBytes / heapLimitBytes : 0;
  if (usedBytes >= criticalBytes || share >= HEAP_CRITICAL) return "critical";
  return usedBytes >= warningBytes || share >= HEAP_WARNING ? "warning" : "normal";
}
