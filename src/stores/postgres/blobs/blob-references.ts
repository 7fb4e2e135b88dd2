import { createBlobMissing } from "../../../log/store/refusals.ts";
import type { Digest } from "../../../model/blob.ts";
import type { Sql, Transaction } from "../connection/postgres-database.ts";

/** Blobs of one entry. */
interface EntryBlobs {
  readonly session: number;
  readonly seq: number;
  readonly digests: readonly Digest[];
}

/** A digest as stored in the database. */
export function toDigestValue(digest: Digest): Uint8Array {
  return Buffer.from(digest, "hex");
}

/** References of entries, drafts and holds to blobs. All methods must be called within a transaction. */
export class BlobReferences {
  /** Keeps the blobs until the end of the transaction; throws BLOB_NOT_FOUND unless all exist. */
  async requireAll(transaction: Transaction, digests: readonly Digest[]): Promise<void> {
    if (digests.length === 0) return;
    const rows = await transaction.query(
      "SELECT encode(digest, 'hex') AS digest FROM @blobs WHERE digest = ANY($1::bytea[]) ORDER BY digest FOR KEY SHARE",
      [digests.map(toDigestValue)],
    );
    const found = new Set(rows.map(({ digest }) => digest as string));
    const missing = digests.find((digest) => !found.has(digest));
    if (missing !== undefined) throw createBlobMissing(missing);
  }

  async addOfEntries(transaction: Transaction, entries: readonly EntryBlobs[]): Promise<void> {
    const rows = entries.flatMap(({ session, seq, digests }) =>
      [...new Set(digests)].map((digest) => ({ session, seq, digest: toDigestValue(digest) })),
    );
    if (rows.length === 0) return;
    await transaction.query(
      "INSERT INTO @entry_blobs (session, seq, digest) SELECT * FROM unnest($1::bigint[], $2::int[], $3::bytea[])",
      [rows.map(({ session }) => session), rows.map(({ seq }) => seq), rows.map(({ digest }) => digest)],
    );
  }

  async replaceOfDraft(transaction: Transaction, draft: number, digests: readonly Digest[]): Promise<void> {
    await transaction.query("DELETE FROM @draft_blobs WHERE draft = $1", [draft]);
    if (digests.length === 0) return;
    await transaction.query(
      "INSERT INTO @draft_blobs (draft, digest) SELECT DISTINCT $1::bigint, d FROM unnest($2::bytea[]) AS u (d)",
      [draft, digests.map(toDigestValue)],
    );
  }

  /** Ends holds and returns the digests that they held. */
  async release(sql: Sql, holds: readonly string[]): Promise<readonly Uint8Array[]> {
    if (holds.length === 0) return [];
    const rows = await sql.query("DELETE FROM @blob_holds WHERE token = ANY($1::text[]) RETURNING digest", [
      holds,
    ]);
    return rows.map(({ digest }) => digest as Uint8Array);
  }
}
