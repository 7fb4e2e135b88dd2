import { MAX_SEQ } from "../../log/store/entry-store.ts";
import type { PlaceStore, StoredPlace, UnplacedSession } from "../../log/store/place-store.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Database } from "./database.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import type { SessionCache } from "./session-cache.ts";

/** Entries of one key that are searched for the last ones of their sessions. */
const MAX_CONSIDERED = 10_000;

/** Keys of entries in SQLite. */
export class SqlitePlaces implements PlaceStore {
  readonly #db: Database;
  readonly #cache: SessionCache;
  readonly #statements;

  constructor(db: Database, cache: SessionCache) {
    this.#db = db;
    this.#cache = cache;
    this.#statements = {
      add: db.prepare("INSERT OR IGNORE INTO places (key, entry) VALUES (?, ?)"),
      find: db.prepare(
        `SELECT p.entry, s.id FROM (SELECT entry FROM places WHERE key = ? ORDER BY entry DESC LIMIT ?) p
         JOIN sessions s ON s.number = p.entry / ${toEntryKey(1, 0)} WHERE s.id IS NOT NULL ORDER BY p.entry DESC`,
      ),
      findLast: db.prepare(
        `SELECT p.entry, s.id FROM (SELECT entry FROM places WHERE key = ? ORDER BY entry DESC LIMIT ${MAX_CONSIDERED}) p
         JOIN sessions s ON s.number = p.entry / ${toEntryKey(1, 0)}
         WHERE s.id IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM places o WHERE o.entry > p.entry AND o.entry <= s.number * ${toEntryKey(1, 0)} + ${MAX_SEQ})
         ORDER BY p.entry DESC LIMIT ?`,
      ),
      between: db.prepare("SELECT key, entry FROM places WHERE entry BETWEEN ? AND ? ORDER BY entry, key"),
      hasEntry: db.prepare("SELECT 1 FROM entries WHERE key = ?"),
      unplaced: db.prepare(
        `SELECT number, id FROM sessions s WHERE id IS NOT NULL AND number > ? AND NOT EXISTS (
           SELECT 1 FROM places WHERE entry BETWEEN s.number * ${toEntryKey(1, 0)} AND s.number * ${toEntryKey(1, 0)} + ${MAX_SEQ})
         ORDER BY number LIMIT ?`,
      ),
    };
  }

  find(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]> {
    return this.#findWith(this.#statements.find, keys, limit);
  }

  findLast(keys: readonly string[], limit: number): Promise<readonly StoredPlace[]> {
    return this.#findWith(this.#statements.findLast, keys, limit);
  }

  #findWith(
    statement: ReturnType<Database["prepare"]>,
    keys: readonly string[],
    limit: number,
  ): Promise<readonly StoredPlace[]> {
    return this.#db.read(() => {
      const found: StoredPlace[] = [];
      for (const key of keys)
        for (const { id, entry } of statement.all(Buffer.from(key, "hex"), limit))
          found.push({ key, session: id as string, seq: seqOfKey(entry as number) });
      return found;
    });
  }

  async put(places: readonly StoredPlace[]): Promise<void> {
    if (places.length === 0) return;
    await this.#db.transact(() => {
      this.#cache.refresh();
      for (const { key, session, seq } of places) {
        const number = this.#cache.find(session)?.number;
        const entry = number === undefined ? undefined : toEntryKey(number, seq);
        if (entry !== undefined && this.#statements.hasEntry.get(entry)) this.add(entry, [key]);
      }
    });
  }

  /** Within a write transaction: adds the keys of an entry. */
  add(entry: number, keys: readonly string[]): void {
    for (const key of keys) this.#statements.add.run(Buffer.from(key, "hex"), entry);
  }

  ofSession(session: SessionId): Promise<readonly StoredPlace[]> {
    return this.#db.read(() => {
      this.#cache.refresh();
      const number = this.#cache.find(session)?.number;
      if (number === undefined) return [];
      const rows = this.#statements.between.all(toEntryKey(number, 0), toEntryKey(number, MAX_SEQ));
      return rows.map(({ key, entry }) => ({
        key: Buffer.from(key as Uint8Array).toString("hex"),
        session,
        seq: seqOfKey(entry as number),
      }));
    });
  }

  listUnplaced({ after = 0, limit }: { after?: number; limit: number }): Promise<readonly UnplacedSession[]> {
    return this.#db.read(() =>
      this.#statements.unplaced
        .all(after, limit)
        .map(({ number, id }) => ({ session: id as string, place: number as number })),
    );
  }
}
