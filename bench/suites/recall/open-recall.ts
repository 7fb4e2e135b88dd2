import { Blobs } from "../../../src/log/blobs.ts";
import { CommitQueue } from "../../../src/log/commit-queue.ts";
import { resolveLimits } from "../../../src/log/limits.ts";
import { Log } from "../../../src/log/log.ts";
import type { Store } from "../../../src/log/store/store.ts";
import { randomIds } from "../../../src/model/clock.ts";
import { Memory } from "../../../src/recall/memory.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { loadEmbedding } from "./load-embedding.ts";

/** The product's memory over a store. */
export interface OpenRecall {
  readonly log: Log;
  readonly memory: Memory;
  /** Sets the clock. */
  setNow(ms: number): void;
  close(): Promise<void>;
}

/**
 * Opens a store (by default an empty SQLite one in memory), a log and memory over it, with the bundled embedder if its weights
 * exist.
 */
export async function openRecall(place: string | Store = ":memory:"): Promise<OpenRecall> {
  let nowMs = Date.now();
  const clock = { now: () => nowMs };
  const store = typeof place === "string" ? await openSqliteStore({ path: place }) : place;
  const limits = resolveLimits(undefined);
  const queue = new CommitQueue(store.entries, limits.maxQueuedBytes);
  const blobs = new Blobs(store.blobs, limits, clock);
  const log = new Log({ store, blobs, limits, clock, ids: randomIds, queue });
  const embedding = loadEmbedding();
  const memory = new Memory({
    log,
    // Runs in this thread, so that no worker is started for every store.
    embedder: embedding
      ? {
          id: embedding.id,
          dimensions: embedding.dimensions,
          isInstant: true,
          embed: async (texts) => embedding.embed(texts),
        }
      : undefined,
    termVectors: () => embedding?.vectors ?? null,
  });
  return {
    log,
    memory,
    setNow(ms) {
      nowMs = ms;
    },
    async close() {
      await memory.close();
      await queue.close();
      await store.close();
    },
  };
}
