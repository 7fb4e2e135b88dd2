import { BoundedMap } from "../../base/bounded-map.ts";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";
import { createSessionNotFound } from "../refusals.ts";
import { MAX_SEQ } from "../seq-limit.ts";
import type { Database, Row } from "./database.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import { isDamagedPage } from "./read-around-damage.ts";

/** Cached head of a session's log, kept up to date by the appends of this process. */
export interface SessionState {
  readonly number: number;
  seq: number;
  at: number;
}

const MAX_SESSIONS = 2048;

/**
 * Caches number and head of the sessions in use. The result of `find` may be stale when other processes write;
 * `refresh` clears the cache if another connection has committed.
 */
export class SessionCache {
  readonly #db: Database;
  readonly #states = new BoundedMap<SessionId, SessionState>({ max: MAX_SESSIONS });
  readonly #numberOf;
  readonly #headOf;
  #dataVersion = -1;

  constructor(db: Database) {
    this.#db = db;
    this.#numberOf = db.prepare("SELECT number FROM sessions WHERE id = ?");
    this.#headOf = db.prepare(
      "SELECT key, at FROM entries WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT 1",
    );
  }

  /** Must be called before a decision is based on cached state. */
  refresh(): void {
    const version = this.#db.dataVersion();
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    this.#states.clear();
  }

  /** The cached state of a session; undefined if the session does not exist. */
  find(id: SessionId): SessionState | undefined {
    const known = this.#states.use(id);
    if (known) return known;
    const row = this.#numberOf.get(id);
    if (!row) return undefined;
    const number = row.number as number;
    const head = this.#lastRow(id, number);
    const state = {
      number,
      seq: head ? seqOfKey(head.key as number) : 0,
      at: head ? (head.at as number) : 0,
    };
    this.#states.set(id, state);
    return state;
  }

  #lastRow(id: SessionId, number: number): Row | undefined {
    try {
      return this.#headOf.get(toEntryKey(number, 0), toEntryKey(number, MAX_SEQ));
    } catch (error) {
      if (!isDamagedPage(error)) throw error;
      throw new LonghaulError(
        "STORE_CORRUPT",
        `The end of session ${JSON.stringify(id)} is damaged on disk; "longhaul repair" copies everything readable into a new store.`,
        { cause: error, details: { session: id } },
      );
    }
  }

  /** The current state of a session; throws SESSION_NOT_FOUND. */
  require(id: SessionId): SessionState {
    this.refresh();
    return this.find(id) ?? throwSessionNotFound(id);
  }

  forget(id: SessionId): void {
    this.#states.delete(id);
  }

  /** Must be called after a rollback, when cached states may be ahead of the store. */
  forgetAll(): void {
    this.#states.clear();
  }
}

export function throwSessionNotFound(id: SessionId): never {
  throw createSessionNotFound(id);
}
