import { KIND_NUMBERS } from "../../../log/store/entry-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "../../../log/store/freed-counts.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import type { ObjectBlobs } from "./objects/object-blobs.ts";

const ROWS_PER_STEP = 2_000;

/** Deletes content. The bytes of deleted rows stay in the server's files until `PostgresStore.vacuum` rewrites them. */
export class PostgresEraser {
  readonly #db: PostgresDatabase;
  readonly #objects: ObjectBlobs | undefined;

  constructor(db: PostgresDatabase, objects: ObjectBlobs | undefined) {
    this.#db = db;
    this.#objects = objects;
  }

  /** Deletes objects whose rows are gone. A failure leaves them to the next collection. */
  async sweepObjects(): Promise<void> {
    await this.#objects?.sweep().catch(() => undefined);
  }

  /** Erases a session that has lost its id, in steps between which others can write. */
  async eraseSession(number: number): Promise<FreedCounts> {
    let freed = NOTHING_FREED;
    for (let after = 0; ; ) {
      const step = await this.#db.transact((transaction) => this.#eraseRange(transaction, number, after));
      freed = addFreed(freed, step.freed);
      if (step.last === undefined) break;
      after = step.last;
    }
    const last = await this.#db.transact(async (transaction) => {
      await transaction.query(
        "DELETE FROM @intake_records WHERE intake IN (SELECT number FROM @intakes WHERE session = $1)",
        [number],
      );
      const refs = await transaction.query(
        "SELECT DISTINCT b.digest FROM @draft_blobs b JOIN @drafts d ON d.number = b.draft WHERE d.session = $1",
        [number],
      );
      await transaction.query("DELETE FROM @drafts WHERE session = $1", [number]);
      await transaction.query("DELETE FROM @intakes WHERE session = $1", [number]);
      await transaction.query("DELETE FROM @sessions WHERE number = $1", [number]);
      return this.eraseBlobs(
        transaction,
        refs.map(({ digest }) => digest as Uint8Array),
      );
    });
    return addFreed(freed, last);
  }

  /** Finishes deletions that a crash interrupted. */
  async finishDeletions(): Promise<void> {
    for (const { number } of await this.#db.query("SELECT number FROM @sessions WHERE id IS NULL"))
      await this.eraseSession(number as number);
  }

  /** Within a transaction: replaces entries of a session by tombstones. */
  async redact(
    transaction: Transaction,
    session: number,
    tombstones: readonly { readonly seq: number; readonly payload: Uint8Array }[],
  ): Promise<FreedCounts> {
    let freed = NOTHING_FREED;
    for (const { seq, payload } of tombstones) {
      const [entry] = await transaction.query(
        "SELECT length(payload) AS bytes, kind FROM @entries WHERE session = $1 AND seq = $2 FOR UPDATE",
        [session, seq],
      );
      if (!entry || entry.kind === KIND_NUMBERS.redacted) continue;
      await transaction.query("UPDATE @entries SET kind = $3, payload = $4 WHERE session = $1 AND seq = $2", [
        session,
        seq,
        KIND_NUMBERS.redacted,
        payload,
      ]);
      await this.#dropPlaces(transaction, session, seq, seq);
      const blobs = await this.#dropReferences(transaction, session, seq, seq);
      freed = addFreed(freed, { ...blobs, entries: 1, payloadBytes: entry.bytes as number });
    }
    return freed;
  }

  /** Within a transaction: deletes those of the blobs that nothing refers to or holds. */
  async eraseBlobs(transaction: Transaction, digests: readonly Uint8Array[]): Promise<FreedCounts> {
    if (digests.length === 0) return NOTHING_FREED;
    // Locked first: whoever wants to refer to one now waits, and the next statement sees whoever was faster.
    await transaction.query(
      "SELECT 1 FROM @blobs WHERE digest = ANY($1::bytea[]) ORDER BY digest FOR UPDATE",
      [digests],
    );
    const rows = await transaction.query(
      `DELETE FROM @blobs b WHERE b.digest = ANY($1::bytea[])
         AND NOT EXISTS (SELECT 1 FROM @entry_blobs r WHERE r.digest = b.digest)
         AND NOT EXISTS (SELECT 1 FROM @draft_blobs r WHERE r.digest = b.digest)
         AND NOT EXISTS (SELECT 1 FROM @blob_holds h WHERE h.digest = b.digest)
       RETURNING b.upload, b.size_bytes, b.place, b.digest`,
      [digests],
    );
    const objects = rows.filter(({ place }) => place !== null);
    if (objects.length > 0)
      await transaction.query(
        "INSERT INTO @blob_deletions (place, digest) SELECT * FROM unnest($1::text[], $2::bytea[]) ON CONFLICT DO NOTHING",
        [objects.map(({ place }) => place as string), objects.map(({ digest }) => digest as Uint8Array)],
      );
    await this.erasePieces(
      transaction,
      rows.map(({ upload }) => upload as number),
    );
    const blobBytes = rows.reduce((sum, row) => sum + (row.size_bytes as number), 0);
    return { ...NOTHING_FREED, blobs: rows.length, blobBytes };
  }

  /** Within a transaction: deletes the pieces of uploads. */
  async erasePieces(transaction: Transaction, uploads: readonly number[]): Promise<void> {
    if (uploads.length === 0) return;
    await transaction.query("DELETE FROM @blob_pieces WHERE upload = ANY($1::bigint[])", [uploads]);
    await transaction.query("DELETE FROM @blob_uploads WHERE number = ANY($1::bigint[])", [uploads]);
  }

  async #eraseRange(
    transaction: Transaction,
    session: number,
    after: number,
  ): Promise<{ freed: FreedCounts; last: number | undefined }> {
    const [step] = await transaction.query(
      `SELECT max(seq) AS last, count(*)::int AS entries, coalesce(sum(bytes), 0)::bigint AS bytes FROM (
         SELECT seq, length(payload) AS bytes FROM @entries WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT ${ROWS_PER_STEP}
       ) AS step`,
      [session, after],
    );
    const { last, entries, bytes } = step as { last: number | null; entries: number; bytes: number };
    if (last === null) return { freed: NOTHING_FREED, last: undefined };
    await transaction.query("DELETE FROM @entries WHERE session = $1 AND seq > $2 AND seq <= $3", [
      session,
      after,
      last,
    ]);
    await this.#dropPlaces(transaction, session, after + 1, last);
    const blobs = await this.#dropReferences(transaction, session, after + 1, last);
    const freed = { ...blobs, entries, payloadBytes: bytes };
    return { freed, last: entries === ROWS_PER_STEP ? last : undefined };
  }

  async #dropPlaces(transaction: Transaction, session: number, from: number, to: number): Promise<void> {
    const range = [session, from, to];
    await transaction.query("DELETE FROM @places WHERE session = $1 AND seq BETWEEN $2 AND $3", range);
  }

  async #dropReferences(
    transaction: Transaction,
    session: number,
    fromSeq: number,
    toSeq: number,
  ): Promise<FreedCounts> {
    const rows = await transaction.query(
      "DELETE FROM @entry_blobs WHERE session = $1 AND seq BETWEEN $2 AND $3 RETURNING digest",
      [session, fromSeq, toSeq],
    );
    return this.eraseBlobs(
      transaction,
      rows.map(({ digest }) => digest as Uint8Array),
    );
  }
}
