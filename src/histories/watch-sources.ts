import { createHash } from "node:crypto";
import { existsSync, type FSWatcher, lstatSync, readdirSync, realpathSync, watch } from "node:fs";
import { join } from "node:path";
import { setImmediate as rest, setTimeout as sleep } from "node:timers/promises";
import type { Kernel } from "../kernel/index.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { checkImportOptions, checkKernel } from "./check-arguments.ts";
import { type FoundSource, SKIPPED_FOLDERS } from "./find-sources.ts";
import { type Survey, surveySources } from "./import-sources.ts";
import { type AgentProcess, listRunningAgents } from "./importing/agent-processes.ts";
import { CopyRegister } from "./importing/copies.ts";
import type { ImportOptions } from "./importing/import-options.ts";
import type { SourceReport } from "./importing/import-report.ts";
import { createDeletionTest, importSource, type SourceOptions } from "./importing/import-source.ts";
import { SourceTrust } from "./importing/source-trust.ts";
import type { ImportSource } from "./port/format.ts";
import type { ProblemItem } from "./reading/item.ts";

/** Time that changes are collected before they are reported. */
const SETTLE_MS = 2_000;
/** Time between two reports where the file system tells of no changes. */
const BLIND_MS = 60_000;
/** Longest time without a report, for changes that the file system did not tell of. */
const IDLE_MS = 15 * 60_000;

export interface WatchOptions extends ImportOptions {
  /** Time between two surveys; by default, the next one follows a change that the file system reports. */
  readonly intervalMs?: number;
  /** Report a source as stalled if it has not grown for this long while its agent runs; default 10 min. */
  readonly stalledAfterMs?: number;
  /** Lists running processes by name; defaults to those of this computer. */
  readonly agents?: (names: readonly string[]) => Promise<readonly AgentProcess[]>;
}

export type WatchEvent =
  | { readonly type: "imported"; readonly report: SourceReport }
  | { readonly type: "problem"; readonly problem: ProblemItem }
  /** The agent runs, but its conversation has stopped growing: it writes elsewhere, or not at all. */
  | {
      readonly type: "stalled";
      readonly source: ImportSource;
      readonly idleMs: number;
      readonly process: AgentProcess;
    }
  | { readonly type: "resumed"; readonly source: ImportSource }
  /** All sources are imported; emitted once after each change. */
  | { readonly type: "idle" };

interface FollowedSource {
  readonly sizeBytes: number;
  readonly modifiedAt: number;
  readonly isStalled: boolean;
  /** True if its files are still to be kept, once they stop changing. */
  readonly isUnkept: boolean;
}

/** A file that has not changed for this long is kept; a copy for each of its changes would fill the store. */
const QUIET_MS = 60_000;
/** Surveys may take at most this share of the time, and looks that nothing has caused at most the other. */
const SURVEY_SHARE = 0.05;
const LOOK_SHARE = 0.0005;

/** Running agents are checked once per this many surveys. */
const SURVEYS_PER_AGENT_CHECK = 10;

/** Imports existing and new conversations until the signal aborts. A function as `paths` is asked before each survey. */
export async function* watchSources(
  kernel: Kernel,
  paths: readonly string[] | (() => Promise<readonly string[]>),
  options: WatchOptions = {},
): AsyncGenerator<WatchEvent> {
  checkKernel(kernel);
  checkImportOptions(options);
  const { signal, intervalMs, mayImportTree, stalledAfterMs = 10 * 60_000 } = options;
  using changes = new FolderWatch();
  const followed = new Map<string, FollowedSource>();
  const told = new Set<string>();
  const copies = options.withForgotten ? undefined : new CopyRegister(kernel);
  const isDeleted = options.withForgotten ? undefined : createDeletionTest(kernel);
  let [print, surveyed]: [string, Survey] = ["", { sources: [], problems: [] }];
  for (let look = 0; !signal?.aborted; look++) {
    const begunAt = performance.now();
    const places = typeof paths === "function" ? await paths() : paths;
    const tree = await readTree(places);
    if (intervalMs === undefined) changes.follow(IS_DEEP ? places : tree.folders);
    const lookMs = performance.now() - begunAt;
    // A survey reads the beginning of each file.
    if (tree.print !== print) surveyed = await surveySources(places, options);
    print = tree.print;
    const { sources, problems } = surveyed;
    for (const problem of problems) {
      const key = `${problem.path}\n${problem.reason}`;
      if (told.has(key)) continue;
      told.add(key);
      yield { type: "problem", problem };
    }
    const surveyMs = performance.now() - begunAt;
    let hasChanged = false;
    for (const found of sources) {
      if (signal?.aborted) return;
      const key = buildKey(found);
      const before = followed.get(key);
      const isQuiet = Date.now() - found.source.modifiedAt >= QUIET_MS;
      const isDue = isQuiet && before?.isUnkept === true;
      if (isSame(before, found.source) && !isDue) continue;
      hasChanged ||= !isDue;
      if (before?.isStalled) yield { type: "resumed", source: found.source };
      const withOriginals = options.withOriginals === true && isQuiet;
      const events = await importFollowed(kernel, found, {
        isLive: true,
        ...dropUndefined({ copies, isDeleted, withOriginals, mayImportTree, limits: options.limits, signal }),
        trust: new SourceTrust(options.system),
      });
      const isUnkept = options.withOriginals === true && !isQuiet;
      followed.set(key, { ...found.source, isStalled: false, isUnkept });
      yield* events;
    }
    if (hasChanged) yield { type: "idle" };
    if (look % SURVEYS_PER_AGENT_CHECK === 0) {
      const lists = new Map<FoundSource["format"], readonly AgentProcess[]>();
      for (const found of listNewest(sources)) {
        const known = followed.get(buildKey(found));
        const idleMs = Date.now() - found.source.modifiedAt;
        if (!known || known.isStalled || idleMs < stalledAfterMs) continue;
        const list = options.agents ?? listRunningAgents;
        const running = lists.get(found.format) ?? (await list(found.format.processes));
        lists.set(found.format, running);
        const { cwd } = found.source;
        const process = running.find((one) => one.cwd === undefined || cwd === undefined || one.cwd === cwd);
        if (!process) continue;
        followed.set(buildKey(found), { ...known, isStalled: true });
        yield { type: "stalled", source: found.source, idleMs, process };
      }
    }
    if (intervalMs !== undefined) await pause(intervalMs, signal);
    else {
      await pause(surveyMs / SURVEY_SHARE, signal);
      const isWaiting = [...followed.values()].some(({ isUnkept }) => isUnkept);
      await changes.wait(signal, lookMs / LOOK_SHARE, isWaiting ? QUIET_MS : undefined);
    }
  }
}

function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return sleep(durationMs, undefined, signal ? { signal } : {}).catch(() => undefined);
}

async function importFollowed(
  kernel: Kernel,
  found: FoundSource,
  options: SourceOptions,
): Promise<readonly WatchEvent[]> {
  const problems: WatchEvent[] = [];
  const report = await importSource(kernel, found, {
    ...options,
    onProblem: (problem) => problems.push({ type: "problem", problem }),
  });
  const isNews = !["unchanged", "forgotten", "refused", "stopped"].includes(report.status);
  return [...problems, ...(isNews ? [{ type: "imported", report } as const] : [])];
}

/** The newest conversation of each working folder: only that one can be the conversation of a running agent. */
function listNewest(sources: readonly FoundSource[]): readonly FoundSource[] {
  const newest = new Map<string, FoundSource>();
  for (const found of sources) {
    const key = `${found.source.format}\n${found.source.cwd}`;
    const before = newest.get(key);
    if (!before || found.source.modifiedAt >= before.source.modifiedAt) newest.set(key, found);
  }
  return [...newest.values()].filter(({ source }) => source.parent === undefined);
}

function buildKey({ source }: FoundSource): string {
  return `${source.format}\n${source.id}\n${source.path}`;
}

function isSame(before: FollowedSource | undefined, source: ImportSource): boolean {
  return before?.sizeBytes === source.sizeBytes && before.modifiedAt === source.modifiedAt;
}

/** The folders below paths, and a print of the names, sizes and times of all files in them. */
async function readTree(
  paths: readonly string[],
): Promise<{ readonly folders: readonly string[]; readonly print: string }> {
  const folders: string[] = [];
  const hash = createHash("sha1");
  const note = (path: string) => {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    hash.update(`${path}\0${facts?.size}\0${facts?.mtimeMs}\0`);
  };
  const waiting = paths.map((path) => (existsSync(path) ? realpathSync(path) : path));
  // Folders are added while it is read.
  for (const path of waiting) {
    try {
      const entries = readdirSync(path, { withFileTypes: true });
      folders.push(path);
      hash.update(`${path}\0`);
      for (const entry of entries)
        if (!entry.isDirectory()) note(join(path, entry.name));
        else if (!SKIPPED_FOLDERS.has(entry.name)) waiting.push(join(path, entry.name));
    } catch {
      // A file, which may be a database with a journal next to it, or a folder that the survey reports.
      for (const file of [path, `${path}-wal`]) note(file);
    }
    await rest();
  }
  return { folders, print: hash.digest("hex") };
}

/** On Linux, Node would follow each file below a folder by itself, and systems limit the number of watches. */
const IS_DEEP = process.platform !== "linux";

/** Waits for changes in folders without looking at them. */
class FolderWatch implements Disposable {
  readonly #watchers = new Map<string, FSWatcher>();
  #isBlind = false;
  #hasChanged = false;
  #wake: () => void = () => undefined;

  /** Waits for changes in these folders only. */
  follow(paths: readonly string[]): void {
    const wanted = new Set(paths);
    for (const path of this.#watchers.keys()) if (!wanted.has(path)) this.#leave(path);
    this.#isBlind = false;
    for (const path of wanted) if (!this.#watchers.has(path)) this.#watch(path);
  }

  /** Resolves some time after a change, after `atMostMs`, when it is time for a look, or when the signal aborts. */
  async wait(
    signal: AbortSignal | undefined,
    pauseMs: number,
    atMostMs = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const idleMs = Math.min(atMostMs, Math.max(pauseMs, this.#isBlind ? BLIND_MS : IDLE_MS));
    if (!this.#hasChanged) {
      const over = new AbortController();
      const waking = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
      await Promise.race([waking, sleep(idleMs, undefined, { signal: either }).catch(() => undefined)]);
      over.abort();
    }
    if (this.#hasChanged) await sleep(SETTLE_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
    this.#hasChanged = false;
  }

  [Symbol.dispose](): void {
    for (const path of this.#watchers.keys()) this.#leave(path);
  }

  #leave(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }

  #watch(path: string): void {
    const onLoss = () => {
      this.#isBlind = true;
      this.#leave(path);
    };
    try {
      const watcher = watch(path, { recursive: IS_DEEP, persistent: false }, () => {
        this.#hasChanged = true;
        this.#wake();
      });
      this.#watchers.set(path, watcher.on("error", onLoss));
    } catch {
      // Too many watches, or a file system that has none: such folders are looked at regularly.
      onLoss();
    }
  }
}
