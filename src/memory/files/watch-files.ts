import { type FSWatcher, watch } from "node:fs";
import { resolve } from "node:path";
import type { Closable } from "../../model/scope.ts";
import type { MemoryStore } from "../../store/memory-store.ts";
import { type IndexedFiles, type IndexFilesOptions, indexFiles } from "./index-files.ts";

/** How files are watched. */
export interface WatchFilesOptions extends Omit<IndexFilesOptions, "signal"> {
  /** How long it must be quiet before files are looked at again; default 300 ms. */
  readonly quietMs?: number;
  /** Told after each indexing, */
  readonly onIndexed?: (indexed: IndexedFiles) => void;
  /** or what went wrong in it; the next change tries again. */
  readonly onError?: (error: unknown) => void;
}

const QUIET_MS = 300;

/** Indexes files and folders now, and again after every change, until it is closed. */
export function watchFiles(
  store: MemoryStore,
  paths: readonly string[],
  options: WatchFilesOptions = {},
): Closable {
  const controller = new AbortController();
  const watchers: FSWatcher[] = [];
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
  for (const path of paths) {
    const watcher = watch(resolve(path), { recursive: true }, later);
    watcher.on("error", (error) => options.onError?.(error));
    watchers.push(watcher);
  }
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
