import { createBlobMissing } from "../../log/store/refusals.ts";
import type { Digest } from "../../model/blob.ts";
import type { Database } from "./database.ts";

/** A digest as stored in the database. */
export function toDigestBytes(digest: Digest): Uint8Array {
  return Buffer.from(digest, "hex");
}

/**
 * References from owners to blobs. An owner is an entry's key, or the negated number of a draft. All methods must be
 * called within a write transaction.
 */
export class BlobRefs {
  readonly #statements;

  constructor(db: Database) {
    this.#statements = {
      exists: db.prepare("SELECT 1 FROM blobs WHERE digest = ?"),
      add: db.prepare("INSERT OR IGNORE INTO blob_refs (owner, digest) VALUES (?, ?)"),
      removeAll: db.prepare("DELETE FROM blob_refs WHERE owner = ?"),
    };
  }

  /** Throws BLOB_NOT_FOUND unless all blobs exist. */
  requireAll(digests: readonly Digest[]): void {
    for (const digest of digests) {
      if (this.#statements.exists.get(toDigestBytes(digest))) continue;
      throw createBlobMissing(digest);
    }
  }

  add(owner: number, digests: readonly Digest[]): void {
    for (const digest of digests) this.#statements.add.run(owner, toDigestBytes(digest));
  }

  removeAll(owner: number): void {
    this.#statements.removeAll.run(owner);
  }
}
