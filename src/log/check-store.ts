import { setImmediate } from "node:timers/promises";
import type { Digest } from "../model/blob.ts";
import type { EntryId, SessionId } from "../model/entry.ts";
import { isLonghaulError, throwIfAborted } from "../model/errors.ts";
import { findBodyBlobs } from "./blobs.ts";
import { hasChecksum } from "./codec.ts";
import { toEntry } from "./entry-body.ts";
import type { Log } from "./log.ts";
import type { SessionHead, StoredEntry } from "./store/entry-store.ts";

/** Damage found in a store. */
export interface StoreDamage {
  /** "structure" is the database itself; such damage may make entries vanish. */
  readonly kind: "structure" | "entry" | "gap" | "blob";
  readonly session?: SessionId;
  /** The damaged entry, or the first missing one. */
  readonly entry?: EntryId;
  readonly digest?: Digest;
  readonly problem: string;
}

/** Result of checking a whole store. */
export interface StoreCheck {
  readonly sessions: number;
  readonly entries: number;
  /** Entries written before payloads had checksums, in which damage may go unnoticed. */
  readonly withoutChecksum: number;
  readonly blobs: number;
  /** Number of damages; `listed` holds at most `MAX_LISTED_DAMAGES`. */
  readonly damages: number;
  readonly listed: readonly StoreDamage[];
}

/** Options of a store check. */
export interface CheckOptions {
  readonly signal?: AbortSignal;
  /** Checks only the database; reads no entry and no blob. */
  readonly isStructureOnly?: boolean;
  /** Called with the number of entries read so far. */
  readonly onProgress?: (entries: number) => void;
}

/** Damages listed in a report; all are counted. */
const MAX_LISTED_DAMAGES = 1_000;
const HEADS_PER_PAGE = 500;
const ENTRIES_PER_PAGE = 256;

/** Reads every entry and blob of a store and reports damage; changes nothing. */
export async function checkStore(log: Log, options: CheckOptions = {}): Promise<StoreCheck> {
  const checking = new StoreChecker(log, options);
  for (const problem of (await log.store.verify?.()) ?? []) checking.add({ kind: "structure", problem });
  if (options.isStructureOnly) return checking.report();
  for (let after = 0; ; ) {
    const heads = await log.store.entries.heads({ after, limit: HEADS_PER_PAGE });
    for (const head of heads) await checking.checkSession(head);
    if (heads.length < HEADS_PER_PAGE) return checking.report();
    after = heads.at(-1)?.place ?? after;
  }
}

class StoreChecker {
  readonly #log: Log;
  readonly #options: CheckOptions;
  readonly #blobs = new Set<Digest>();
  readonly #listed: StoreDamage[] = [];
  #damages = 0;
  #sessions = 0;
  #entries = 0;
  #withoutChecksum = 0;

  constructor(log: Log, options: CheckOptions) {
    this.#log = log;
    this.#options = options;
  }

  add(damage: StoreDamage): void {
    this.#damages++;
    if (this.#listed.length < MAX_LISTED_DAMAGES) this.#listed.push(damage);
  }

  report(): StoreCheck {
    return {
      sessions: this.#sessions,
      entries: this.#entries,
      withoutChecksum: this.#withoutChecksum,
      blobs: this.#blobs.size,
      damages: this.#damages,
      listed: this.#listed,
    };
  }

  async checkSession({ session, seq: head }: SessionHead): Promise<void> {
    this.#sessions++;
    for (let next = 1; next <= head; ) {
      throwIfAborted(this.#options.signal);
      const query = { from: next, to: head, limit: ENTRIES_PER_PAGE, order: "ascending" } as const;
      const page = await this.#log.store.entries.read(session, query);
      for (const stored of page) {
        if (stored.seq > next) this.#addGap(session, next, stored.seq - 1);
        await this.#checkEntry(session, stored);
        next = stored.seq + 1;
      }
      if (page.length === 0) return this.#addGap(session, next, head);
      this.#options.onProgress?.(this.#entries);
      await setImmediate();
    }
  }

  async #checkEntry(session: SessionId, stored: StoredEntry): Promise<void> {
    this.#entries++;
    const entry = toEntry(session, stored);
    if (entry.kind === "damaged")
      return this.add({ kind: "entry", session, entry: entry.id, problem: entry.problem });
    if (!hasChecksum(stored.payload)) this.#withoutChecksum++;
    for (const digest of findBodyBlobs(entry)) await this.#checkBlob(digest, session, entry.id);
  }

  async #checkBlob(digest: Digest, session: SessionId, entry: EntryId): Promise<void> {
    if (this.#blobs.has(digest)) return;
    this.#blobs.add(digest);
    try {
      for await (const _ of this.#log.blobs.stream(digest)) throwIfAborted(this.#options.signal);
    } catch (error) {
      if (!isLonghaulError(error) || error.code === "ABORTED") throw error;
      this.add({ kind: "blob", session, entry, digest, problem: error.message });
    }
  }

  #addGap(session: SessionId, from: number, to: number): void {
    const problem = from === to ? "The entry is missing." : `Entries up to ${to} are missing.`;
    this.add({ kind: "gap", session, entry: `${session}#${from}`, problem });
  }
}
