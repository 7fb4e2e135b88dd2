import type { DraftRecord, DraftStore, DraftWrite } from "../../../log/store/draft-store.ts";
import { createDraftFinished } from "../../../log/store/refusals.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { BlobReferences } from "../blobs/blob-references.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import type { LogHeads } from "../heads/log-heads.ts";

/** Drafts in PostgreSQL. */
export class PostgresDrafts implements DraftStore {
  readonly #db: PostgresDatabase;
  readonly #heads: LogHeads;
  readonly #references: BlobReferences;

  constructor(db: PostgresDatabase, heads: LogHeads, references: BlobReferences) {
    this.#db = db;
    this.#heads = heads;
    this.#references = references;
  }

  async write(draft: DraftWrite): Promise<void> {
    await this.#db.transact(async (transaction) => {
      const session = await this.#heads.requireNumber(transaction, draft.session);
      const { blobs = [], holds = [] } = draft;
      await this.#references.requireAll(transaction, blobs);
      const [row] = await transaction.query(
        `INSERT INTO @drafts (id, session, owner, at, payload) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, at = excluded.at, payload = excluded.payload
         RETURNING number`,
        [draft.id, session, draft.owner, draft.at, draft.payload],
      );
      await this.#references.replaceOfDraft(transaction, row?.number as number, blobs);
      await this.#references.release(transaction, holds);
    });
  }

  async list(session: SessionId): Promise<readonly DraftRecord[]> {
    const rows = await this.#db.query(
      `SELECT d.id, d.owner, d.at, d.payload FROM @drafts d JOIN @sessions s ON s.number = d.session
       WHERE s.id = $1 ORDER BY d.number`,
      [session],
    );
    return rows.map((row) => ({
      id: row.id as string,
      session,
      owner: row.owner as string,
      at: row.at as number,
      payload: row.payload as Uint8Array,
    }));
  }

  async sessions(): Promise<readonly SessionId[]> {
    const rows = await this.#db.query(
      "SELECT DISTINCT s.id FROM @drafts d JOIN @sessions s ON s.number = d.session WHERE s.id IS NOT NULL",
    );
    return rows.map(({ id }) => id as string);
  }

  async delete(id: string): Promise<boolean> {
    return (await this.#db.query("DELETE FROM @drafts WHERE id = $1 RETURNING number", [id])).length > 0;
  }

  /** Within a transaction: removes the draft of an append; throws DRAFT_FINISHED if it does not exist. */
  async finish(transaction: Transaction, id: string): Promise<void> {
    await transaction.query("DELETE FROM @drafts WHERE id = $1", [id]);
  }

  /** Within a transaction, before any write: locks the draft; throws DRAFT_FINISHED if it does not exist. */
  async require(transaction: Transaction, id: string): Promise<void> {
    const [row] = await transaction.query("SELECT number FROM @drafts WHERE id = $1 FOR UPDATE", [id]);
    if (!row) throw createDraftFinished(id);
  }
}
