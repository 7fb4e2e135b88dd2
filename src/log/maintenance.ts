import { checkFields, checkKind } from "../model/argument-checks.ts";
import type { DroppableCache } from "../model/base/caches.ts";
import { isOwnerAlive, isOwnerRunning } from "../model/base/owner.ts";
import { isLonghaulError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { Bulkhead, listSkipped, type SharedLoop, type SkippedItem } from "./bulkhead.ts";
import { writeJson } from "./intake.ts";
import { adoptInterrupted } from "./interrupted-drafts.ts";
import type { Log } from "./log.ts";
import { eraseAgain, resumeErasures } from "./redaction.ts";
import type { CollectedBlobs, CollectOptions } from "./store/blob-store.ts";
import { listLedger } from "./store/ledger-store.ts";
import type { SessionSize } from "./store/session-store.ts";
import type { SharedStateStore } from "./store/shared-state-store.ts";
import type { FileSearch, StoreInspection } from "./store/store.ts";
import { readStoreKey } from "./store-key.ts";

/** Looks after an open store: sizes, files, leases, write-ahead log and caches. */
export class Maintenance {
  readonly #log: Log;
  readonly #assertOpen: () => void;
  /** States that gateways on several machines share; undefined for a store of one machine. */
  readonly sharedStates: SharedStateStore | undefined;

  constructor(log: Log, assertOpen: () => void) {
    this.#log = log;
    this.#assertOpen = assertOpen;
    this.sharedStates = log.store.sharedStates;
  }

  /** Yields the size and last use of every session, in the order of creation. */
  async *sessionSizes(): AsyncGenerator<SessionSize> {
    this.#assertOpen();
    yield* this.#log.store.sessions.sizes();
  }

  /** The state of the store's files, for a diagnosis; undefined for a store that has none. */
  async inspect(): Promise<StoreInspection | undefined> {
    this.#assertOpen();
    await this.#log.flush();
    return this.#log.store.inspect?.();
  }

  /** Removes leases that ended before now; their owners died without returning them. */
  async dropExpiredLeases(): Promise<number> {
    this.#assertOpen();
    return this.#log.store.leases.dropExpired(this.#log.clock.now());
  }

  /** Lets a loop over the content of everybody go on when one of its items fails, and notes that item. */
  bulkhead(loop: SharedLoop): Bulkhead {
    this.#assertOpen();
    return new Bulkhead(this.#log.store, this.#log.clock, loop);
  }

  /** Items that loops have left out, each with its reason. */
  async *skipped(): AsyncGenerator<SkippedItem> {
    this.#assertOpen();
    yield* listSkipped(this.#log.store);
  }

  /** Completes what a process that died had begun: erasures of entries. A store that is read by others goes without. */
  async resume(): Promise<void> {
    try {
      await resumeErasures(this.#log);
    } catch (error) {
      if (!isLonghaulError(error, "STORE_READ_ONLY") && !isLonghaulError(error, "STORE_BUSY")) throw error;
    }
  }

  /** Erases whatever repeats words that were erased before; for a store from a backup. May take long. */
  async eraseAgain(): Promise<number> {
    this.#assertOpen();
    return eraseAgain(this.#log);
  }

  /** The record of an erasure that is under way; undefined if there is none. */
  async readErasure(id: string): Promise<Json | undefined> {
    this.#assertOpen();
    const [row] = await this.#log.store.ledger.find("erasure", [checkKind("id", id, "name")]);
    return row && (JSON.parse(row.value) as Json);
  }

  /** Records what an erasure is about to do, so that another process can go on with it. */
  async writeErasure(id: string, value: Json): Promise<void> {
    this.#assertOpen();
    const row = { id: checkKind("id", id, "name"), value: writeJson("value", value) };
    await this.#log.store.ledger.put("erasure", [row]);
  }

  /** Removes the record of an erasure that is complete. */
  async endErasure(id: string): Promise<void> {
    this.#assertOpen();
    await this.#log.store.ledger.remove("erasure", [checkKind("id", id, "name")]);
  }

  /** The ids of erasures that are under way. */
  async listErasures(prefix = ""): Promise<readonly string[]> {
    this.#assertOpen();
    const ids: string[] = [];
    for await (const { id: row } of listLedger(this.#log.store.ledger, "erasure"))
      if (row.startsWith(prefix)) ids.push(row);
    return ids;
  }

  /** A random key of the store, the same in every process that opens it; created on first use. */
  async readKey(name: string): Promise<string> {
    this.#assertOpen();
    checkKind("name", name, "name");
    return readStoreKey(this.#log.store, this.#log.clock, name);
  }

  /** Searches the files of the store for texts of erased content; undefined if the store cannot. */
  async searchFiles(texts: readonly string[]): Promise<FileSearch | undefined> {
    this.#assertOpen();
    await this.#log.flush();
    return this.#log.store.searchFiles?.(texts);
  }

  /** Moves the write-ahead log into the database and empties it; false if a reader prevented that. */
  async checkpoint(): Promise<boolean> {
    this.#assertOpen();
    return (await this.#log.store.checkpoint?.()) ?? true;
  }

  /** Share of their limits that caches may use: 1, less after critical memory pressure. */
  get cacheShare(): number {
    return this.#log.caches.share;
  }

  /** Lets the monitor see and drop a cache of the program; returns a function that removes it. */
  addCache(name: string, cache: DroppableCache): () => void {
    this.#assertOpen();
    checkKind("name", name, "name");
    checkFields("cache", cache, { sizeBytes: "function", drop: "function" });
    return this.#log.caches.add(name, cache);
  }
}

/** Counts of a collection of the whole store. */
export interface CollectedGarbage extends CollectedBlobs {
  /** Drafts of dead writers that became interrupted messages; no text is lost. */
  readonly drafts: number;
}

/** Removes unreferenced blobs and files of crashed writers, and turns abandoned drafts into interrupted messages. */
export async function collectGarbage(log: Log, options: CollectOptions): Promise<CollectedGarbage> {
  const { dryRun = false, minAgeMs = 0 } = options;
  const now = log.clock.now();
  let drafts = 0;
  // Drafts first: blobs of an adopted draft are then referred to by its message.
  for (const session of await log.store.drafts.sessions()) {
    const stale = (await log.store.drafts.list(session)).filter(
      ({ owner, at }) => now - at >= minAgeMs && !isOwnerRunning(owner) && !isOwnerAlive(owner, at, now),
    );
    if (stale.length === 0) continue;
    drafts += dryRun ? stale.length : await adoptInterrupted(log, session);
  }
  return { ...(await log.store.blobs.collect(options)), drafts };
}
