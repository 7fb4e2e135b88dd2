import { accessSync, type FSWatcher, watch } from "node:fs";
import { resolve } from "node:path";
import type { MemoryStore } from "../../log/store/memory-store.ts";
import { checkTexts } from "../../model/argument-checks.ts";
import { LonghaulError } from "../../model/errors.ts";
import type { Census, Closable } from "../../model/lifetime.ts";
import { type IndexedFiles, type IndexFilesOptions, indexFiles } from "./index-files.ts";

export interface WatchFilesOptions extends Omit<IndexFilesOptions, "signal"> {
  /** Quiet period before files are indexed again; default 300 ms. */
  readonly quietMs?: number;
  /** Called after each indexing run. */
  readonly onIndexed?: (indexed: IndexedFiles) => void;
  /** Called when a run fails; the next change tries again. */
  readonly onError?: (error: unknown) => void;
}

const QUIET_MS = 300;

/** Indexes files and folders now, and again after every change, until closed; the census counts each watcher. */
export function watchFiles(
  store: MemoryStore,
  paths: readonly string[],
  options: WatchFilesOptions,
  census: Census,
): Closable {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isWanted = false;

  const run = async (): Promise<void> => {
    while (isWanted && !controller.signal.aborted) {
      isWanted = false;
      try {
        const indexed = await indexFiles(store, paths, { ...options, signal: controller.signal });
        options.onIndexed?.(indexed);
      } catch (error) {
        if (!controller.signal.aborted) options.onError?.(error);
      }
    }
  };
  const start = (): void => {
    isWanted = true;
    running ??= run().finally(() => {
      running = undefined;
    });
  };
  const later = (): void => {
    clearTimeout(timer);
    if (!controller.signal.aborted) timer = setTimeout(start, options.quietMs ?? QUIET_MS);
  };
  const onError = (error: unknown) => options.onError?.(error);
  const watchers = openWatchers(paths, { onChange: later, onError, census });
  start();
  return {
    async close() {
      controller.abort();
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      await running;
    },
  };
}

/** Callbacks and census of the watchers. */
interface WatcherDeps {
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
  readonly census: Census;
}

/** Opens one watcher per path; closes all of them if one fails. */
function openWatchers(paths: readonly string[], parts: WatcherDeps): FSWatcher[] {
  const watchers: FSWatcher[] = [];
  try {
    for (const path of checkTexts("paths", paths)) watchers.push(openWatcher(path, parts));
  } catch (error) {
    for (const watcher of watchers) watcher.close();
    throw error;
  }
  return watchers;
}

function openWatcher(path: string, { onChange, onError, census }: WatcherDeps): FSWatcher {
  let watcher: FSWatcher;
  try {
    // Some systems report a missing path only later, as an error of the watcher.
    accessSync(path);
    watcher = watch(resolve(path), { recursive: true }, onChange);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `${path} cannot be watched: ${reason}. Check that it exists and can be read.`;
    throw new LonghaulError("SOURCE_UNREADABLE", message, { cause, details: { path } });
  }
  census.opened("watcher");
  watcher.on("error", onError);
  watcher.once("close", () => census.closed("watcher"));
  return watcher;
}
