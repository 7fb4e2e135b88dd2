import { createHash } from "node:crypto";
import type { Digest } from "../../../../model/blob.ts";
import { LonghaulError } from "../../../../model/errors.ts";
import type { PostgresDatabase, Transaction } from "../../connection/postgres-database.ts";
import { toDigestValue } from "../blob-references.ts";
import type { ObjectClient } from "./object-client.ts";
import type { StagedFile } from "./staged-file.ts";

/** First half of the advisory lock's key; the second is made of the digest. */
const LOCK_CLASS = 0x4c4a;
const DELETED_PER_SWEEP = 200;

/**
 * Blobs as objects, whose rows stay in the database. Uploads and deletions of one digest exclude each other by an
 * advisory lock: a gateway that writes content again never loses it to another one that deletes it.
 */
export class ObjectBlobs {
  readonly #db: PostgresDatabase;
  readonly #client: ObjectClient;

  constructor(db: PostgresDatabase, client: ObjectClient) {
    this.#db = db;
    this.#client = client;
  }

  get place(): string {
    return this.#client.place;
  }

  /**
   * Announces an upload; from here on nobody deletes the object. Waits for a deletion that has begun. Returns the
   * number of the upload, under which a crashed writer's object is found.
   */
  announce(digest: Digest): Promise<number> {
    return this.#db.transact(async (transaction) => {
      await lockDigest(transaction, digest);
      await transaction.query("DELETE FROM @blob_deletions WHERE place = $1 AND digest = $2", [
        this.place,
        toDigestValue(digest),
      ]);
      const [row] = await transaction.query(
        "INSERT INTO @blob_uploads (place, digest) VALUES ($1, $2) RETURNING number",
        [this.place, toDigestValue(digest)],
      );
      return row?.number as number;
    });
  }

  upload(file: StagedFile, signal?: AbortSignal): Promise<void> {
    return this.#client.put(file, signal);
  }

  /** The bytes of a blob; undefined if the object is gone. */
  read(digest: Digest): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#client.get(digest);
  }

  /** Deletes objects whose rows are gone. Stops at the first failure: the rest waits for the next sweep. */
  async sweep(): Promise<void> {
    for (;;) {
      const rows = await this.#db.query(
        `SELECT encode(digest, 'hex') AS digest FROM @blob_deletions WHERE place = $1 ORDER BY digest LIMIT ${DELETED_PER_SWEEP}`,
        [this.place],
      );
      for (const { digest } of rows) await this.#deleteObject(digest as Digest);
      if (rows.length < DELETED_PER_SWEEP) return;
    }
  }

  #deleteObject(digest: Digest): Promise<void> {
    const value = toDigestValue(digest);
    return this.#db.transact(async (transaction) => {
      await lockDigest(transaction, digest);
      const [planned] = await transaction.query(
        `SELECT EXISTS (SELECT 1 FROM @blobs WHERE digest = $2 AND place = $1)
           OR EXISTS (SELECT 1 FROM @blob_uploads WHERE digest = $2 AND place = $1) AS used
         FROM @blob_deletions WHERE place = $1 AND digest = $2`,
        [this.place, value],
      );
      if (!planned) return;
      // The lock is held until the object is gone, so that an upload of the same content comes after it.
      if (!planned.used) await this.#client.delete(digest);
      await transaction.query("DELETE FROM @blob_deletions WHERE place = $1 AND digest = $2", [
        this.place,
        value,
      ]);
    });
  }
}

async function lockDigest(transaction: Transaction, digest: Digest): Promise<void> {
  const key = createHash("sha256").update(digest).digest().readInt32BE(0);
  await transaction.query("SELECT pg_advisory_xact_lock($1, $2)", [LOCK_CLASS, key]);
}

/** The refusal to read a blob from a place that this program does not know. */
export function createPlaceUnknown(digest: Digest, place: string): LonghaulError {
  return new LonghaulError(
    "STORE_IO",
    `Blob ${digest} is in ${place}, which this program does not know; open the store with blobs=${place} and its endpoint, as the others do.`,
    { details: { digest, store: place } },
  );
}
