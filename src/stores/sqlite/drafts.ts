import type { DraftRecord, DraftStore, DraftWrite } from "../../log/store/draft-store.ts";
import { createDraftFinished } from "../../log/store/refusals.ts";
import type { SessionId } from "../../model/entry.ts";
import type { BlobHolds } from "./blob-holds.ts";
import type { BlobRefs } from "./blob-refs.ts";
import type { Database } from "./database.ts";
import type { SessionCache } from "./session-cache.ts";

/** The parts of the store that keep the blobs of drafts. */
interface DraftDeps {
  readonly refs: BlobRefs;
  readonly holds: BlobHolds;
}

/** Drafts in SQLite. Their blob references are owned by the negative of the draft's number. */
export class Drafts implements DraftStore {
  readonly #db: Database;
  readonly #cache: SessionCache;
  readonly #refs: BlobRefs;
  readonly #holds: BlobHolds;
  readonly #statements;

  constructor(db: Database, cache: SessionCache, { refs, holds }: DraftDeps) {
    this.#db = db;
    this.#cache = cache;
    this.#refs = refs;
    this.#holds = holds;
    this.#statements = {
      upsert: db.prepare(`
        INSERT INTO drafts (id, session, owner, at, payload) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, at = excluded.at, payload = excluded.payload
        RETURNING number`),
      list: db.prepare("SELECT id, owner, at, payload FROM drafts WHERE session = ? ORDER BY number"),
      sessions: db.prepare(
        "SELECT DISTINCT s.id FROM drafts d JOIN sessions s ON s.number = d.session WHERE s.id IS NOT NULL",
      ),
      find: db.prepare("SELECT number FROM drafts WHERE id = ?"),
      delete: db.prepare("DELETE FROM drafts WHERE id = ? RETURNING number"),
    };
  }

  async write(draft: DraftWrite): Promise<void> {
    await this.#db.transactBeside(() => {
      const { number: session } = this.#cache.require(draft.session);
      if (draft.blobs) this.#refs.requireAll(draft.blobs);
      const { number } = this.#statements.upsert.get(
        draft.id,
        session,
        draft.owner,
        draft.at,
        draft.payload,
      ) as { number: number };
      this.#refs.removeAll(-number);
      if (draft.blobs) this.#refs.add(-number, draft.blobs);
      for (const hold of draft.holds ?? []) this.#holds.release(hold);
    });
  }

  async list(session: SessionId): Promise<readonly DraftRecord[]> {
    const rows = await this.#db.snapshot(() =>
      this.#statements.list.all(this.#cache.require(session).number),
    );
    return rows.map((row) => ({
      id: row.id as string,
      session,
      owner: row.owner as string,
      at: row.at as number,
      payload: row.payload as Uint8Array,
    }));
  }

  sessions(): Promise<readonly SessionId[]> {
    return this.#db.read(() => this.#statements.sessions.all().map(({ id }) => id as string));
  }

  async delete(id: string): Promise<boolean> {
    return this.#db.transactBeside(() => this.deleteWithin(id));
  }

  /** `delete` for callers inside a write transaction. */
  deleteWithin(id: string): boolean {
    const row = this.#statements.delete.get(id) as { number: number } | undefined;
    if (row) this.#refs.removeAll(-row.number);
    return row !== undefined;
  }

  /** Throws DRAFT_FINISHED if the draft does not exist. */
  require(id: string): void {
    if (this.#statements.find.get(id)) return;
    throw createDraftFinished(id);
  }
}
