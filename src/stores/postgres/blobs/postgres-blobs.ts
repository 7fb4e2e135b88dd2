import { createHash, type Hash, randomUUID } from "node:crypto";
import type {
  BlobStore,
  BlobWriteOptions,
  CollectedBlobs,
  CollectOptions,
  WrittenBlob,
} from "../../../log/store/blob-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "../../../log/store/freed-counts.ts";
import { createBlobTooLarge } from "../../../log/store/refusals.ts";
import type { Digest } from "../../../model/blob.ts";
import { LonghaulError, throwIfAborted } from "../../../model/errors.ts";
import type { PostgresDatabase, Transaction } from "../connection/postgres-database.ts";
import { createRetry } from "../connection/postgres-error.ts";
import { type BlobReferences, toDigestValue } from "./blob-references.ts";
import { createPlaceUnknown, type ObjectBlobs } from "./objects/object-blobs.ts";
import { stageFile } from "./objects/staged-file.ts";
import type { PostgresEraser } from "./postgres-eraser.ts";

/** How long a written blob waits for the append that refers to it, by the server's clock. */
const HOLD_TIME = "15 minutes";
/** Age at which the pieces of a crashed writer are removed. */
const ABANDONED_AFTER = "1 hour";
const COLLECT_BATCH = 200;

/** Dependencies of `PostgresBlobs`. */
interface BlobDeps {
  readonly references: BlobReferences;
  readonly eraser: PostgresEraser;
  readonly objects: ObjectBlobs | undefined;
}

interface FoundBlob {
  readonly upload: number;
  readonly sizeBytes: number;
  /** The storage that holds it; null for the database. */
  readonly place: string | null;
}

/**
 * Blobs in PostgreSQL. A blob is the pieces of one upload, or an object of another storage; identical bytes are kept
 * once.
 */
export class PostgresBlobs implements BlobStore {
  readonly #db: PostgresDatabase;
  readonly #pieces: BlobPieces;
  readonly #references: BlobReferences;
  readonly #eraser: PostgresEraser;
  /** Where new blobs are written, if not into the database. */
  readonly #objects: ObjectBlobs | undefined;

  constructor(db: PostgresDatabase, { references, eraser, objects }: BlobDeps) {
    this.#db = db;
    this.#pieces = new BlobPieces(db);
    this.#references = references;
    this.#eraser = eraser;
    this.#objects = objects;
  }

  async write(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: BlobWriteOptions,
  ): Promise<WrittenBlob> {
    if (this.#objects) return this.#writeObject(this.#objects, bytes, options);
    const hold = randomUUID();
    let upload: number | undefined;
    try {
      const staged = await this.#pieces.stage(bytes, options, (number) => {
        upload = number;
      });
      const created = await this.#db.transact((transaction) => this.#settle(transaction, staged, hold));
      return { digest: staged.digest, sizeBytes: staged.sizeBytes, created, hold };
    } catch (error) {
      const doomed = upload;
      if (doomed !== undefined) await this.#drop(doomed).catch(() => undefined);
      throw error;
    }
  }

  /** Writes an object, unless its content is stored already. */
  async #writeObject(
    objects: ObjectBlobs,
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: BlobWriteOptions,
  ): Promise<WrittenBlob> {
    const file = await stageFile(bytes, options);
    const { digest, sizeBytes } = file;
    const hold = randomUUID();
    let upload: number | undefined;
    try {
      if (await this.#db.transact((transaction) => this.#holdKnown(transaction, digest, hold)))
        return { digest, sizeBytes, created: false, hold };
      upload = await objects.announce(digest);
      await objects.upload(file, options.signal);
      const staged = { upload, digest, sizeBytes };
      const created = await this.#db.transact((transaction) =>
        this.#settle(transaction, staged, hold, objects.place),
      );
      return { digest, sizeBytes, created, hold };
    } catch (error) {
      if (upload !== undefined) await this.#drop(upload).catch(() => undefined);
      throw error;
    } finally {
      await file.remove();
    }
  }

  async release(holds: readonly string[]): Promise<void> {
    await this.#db.transact(async (transaction) => {
      const digests = await this.#references.release(transaction, holds);
      await this.#eraser.eraseBlobs(transaction, digests);
    });
    await this.#eraser.sweepObjects();
  }

  async *read(digest: Digest): AsyncGenerator<Uint8Array> {
    const blob = await this.#find(digest);
    let missing = blob?.sizeBytes ?? 0;
    let isRead = false;
    if (blob) {
      for await (const piece of await this.#open(digest, blob)) {
        isRead = true;
        missing -= piece.byteLength;
        // A storage that sends more than the blob has would otherwise be read without end.
        if (missing < 0) break;
        yield piece;
      }
    }
    if (blob && missing === 0) return;
    if (blob && isRead)
      throw new LonghaulError(
        "BLOB_CORRUPT",
        `Blob ${digest} has ${blob.sizeBytes} bytes, and ${blob.place ?? "the database"} sent ${missing > 0 ? `${blob.sizeBytes - missing}` : "more"}; look at what the storage holds at this digest.`,
        { details: { digest } },
      );
    throw new LonghaulError("BLOB_NOT_FOUND", `Blob ${digest} is not in this store: it was deleted.`, {
      details: { digest },
    });
  }

  async sizeOf(digest: Digest): Promise<number | undefined> {
    return (await this.#find(digest))?.sizeBytes;
  }

  async collect({ dryRun = false, minAgeMs = 0 }: CollectOptions = {}): Promise<CollectedBlobs> {
    if (!dryRun) await this.#db.query("DELETE FROM @blob_holds WHERE expires_at < now()");
    let freed: FreedCounts = NOTHING_FREED;
    for (let after: Uint8Array | undefined = new Uint8Array(0); after; ) {
      const idle = await this.#db.query(
        `SELECT digest, size_bytes FROM @blobs b
         WHERE digest > $1 AND written_at <= now() - make_interval(secs => $2::float8 / 1000)
           AND NOT EXISTS (SELECT 1 FROM @entry_blobs r WHERE r.digest = b.digest)
           AND NOT EXISTS (SELECT 1 FROM @draft_blobs r WHERE r.digest = b.digest)
           AND NOT EXISTS (SELECT 1 FROM @blob_holds h WHERE h.digest = b.digest)
         ORDER BY digest LIMIT ${COLLECT_BATCH}`,
        [after, minAgeMs],
      );
      const digests = idle.map(({ digest }) => digest as Uint8Array);
      const blobBytes = idle.reduce((sum, row) => sum + (row.size_bytes as number), 0);
      const step = dryRun
        ? { ...NOTHING_FREED, blobs: idle.length, blobBytes }
        : await this.#db.transact((transaction) => this.#eraser.eraseBlobs(transaction, digests));
      freed = addFreed(freed, step);
      after = digests.length === COLLECT_BATCH ? digests.at(-1) : undefined;
    }
    const swept = await this.#sweepUploads(dryRun);
    if (!dryRun) await this.#objects?.sweep();
    return { ...freed, ...swept };
  }

  async #open(digest: Digest, { upload, place }: FoundBlob): Promise<AsyncIterable<Uint8Array>> {
    if (place === null) return this.#pieces.read(upload);
    if (this.#objects?.place !== place) throw createPlaceUnknown(digest, place);
    return (await this.#objects.read(digest)) ?? (async function* () {})();
  }

  /** Holds a blob that exists; false if there is none. */
  async #holdKnown(transaction: Transaction, digest: Digest, hold: string): Promise<boolean> {
    const value = toDigestValue(digest);
    const [kept] = await transaction.query("SELECT 1 FROM @blobs WHERE digest = $1 FOR KEY SHARE", [value]);
    if (kept) await insertHold(transaction, value, hold);
    return kept !== undefined;
  }

  /** Makes the upload a blob, or drops it where one with these bytes exists; returns whether it is new. */
  async #settle(
    transaction: Transaction,
    { upload, digest, sizeBytes }: StagedBlob,
    hold: string,
    place: string | null = null,
  ): Promise<boolean> {
    const value = toDigestValue(digest);
    await transaction.query(
      "INSERT INTO @blobs (digest, upload, size_bytes, place) VALUES ($1, $2, $3, $4) ON CONFLICT (digest) DO NOTHING",
      [value, upload, sizeBytes, place],
    );
    const [kept] = await transaction.query(
      "SELECT upload, place FROM @blobs WHERE digest = $1 FOR KEY SHARE",
      [value],
    );
    if (!kept) throw createRetry("The blob was collected meanwhile");
    // Equal also if this runs again after a lost connection.
    const created = kept.upload === upload;
    if (created) await transaction.query("DELETE FROM @blob_uploads WHERE number = $1", [upload]);
    else await this.#dropWithin(transaction, upload);
    await insertHold(transaction, value, hold);
    return created;
  }

  /** Removes an upload unless it has become a blob. */
  async #drop(upload: number): Promise<void> {
    await this.#db.transact(async (transaction) => {
      const [kept] = await transaction.query("SELECT 1 FROM @blobs WHERE upload = $1", [upload]);
      if (!kept) await this.#dropWithin(transaction, upload);
    });
  }

  /** An object of the upload is deleted later, unless a blob is there by then. */
  async #dropWithin(transaction: Transaction, upload: number): Promise<void> {
    await transaction.query(
      `INSERT INTO @blob_deletions (place, digest) SELECT place, digest FROM @blob_uploads
       WHERE number = $1 AND place IS NOT NULL ON CONFLICT DO NOTHING`,
      [upload],
    );
    await this.#eraser.erasePieces(transaction, [upload]);
  }

  async #find(digest: Digest): Promise<FoundBlob | undefined> {
    const [row] = await this.#db.query("SELECT upload, size_bytes, place FROM @blobs WHERE digest = $1", [
      toDigestValue(digest),
    ]);
    return (
      row && {
        upload: row.upload as number,
        sizeBytes: row.size_bytes as number,
        place: row.place as string | null,
      }
    );
  }

  async #sweepUploads(isDryRun: boolean): Promise<{ temporaryFiles: number; temporaryBytes: number }> {
    const rows = await this.#db.query(
      `SELECT u.number, coalesce((SELECT sum(length(bytes)) FROM @blob_pieces p WHERE p.upload = u.number), 0)::bigint AS bytes
       FROM @blob_uploads u WHERE u.started_at < now() - interval '${ABANDONED_AFTER}'`,
    );
    if (!isDryRun) for (const { number } of rows) await this.#drop(number as number);
    const temporaryBytes = rows.reduce((sum, row) => sum + (row.bytes as number), 0);
    return { temporaryFiles: rows.length, temporaryBytes };
  }
}

async function insertHold(transaction: Transaction, digest: Uint8Array, hold: string): Promise<void> {
  await transaction.query(
    `INSERT INTO @blob_holds (token, digest, expires_at) VALUES ($1, $2, now() + interval '${HOLD_TIME}')
     ON CONFLICT (token) DO NOTHING`,
    [hold, digest],
  );
}

/** Bytes of one row; larger blobs take several, so that none is ever whole in memory. */
const PIECE_BYTES = 256 * 1024;

/** A complete upload that is not yet a blob. */
interface StagedBlob {
  readonly upload: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** Streams bytes into rows under the number of a new upload, hashing them on the way. */
class BlobPieces {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  /** Writes all pieces; `onUpload` is called with the upload's number before the first one. */
  async stage(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { maxBytes, signal }: BlobWriteOptions,
    onUpload: (upload: number) => void,
  ): Promise<StagedBlob> {
    const [row] = await this.#db.query("INSERT INTO @blob_uploads DEFAULT VALUES RETURNING number");
    const upload = row?.number as number;
    onUpload(upload);
    const writing = { hash: createHash("sha256"), upload, piece: 0 };
    let sizeBytes = 0;
    let waiting: Uint8Array[] = [];
    let waitingBytes = 0;
    for await (const chunk of bytes) {
      throwIfAborted(signal);
      sizeBytes += chunk.byteLength;
      if (sizeBytes > maxBytes) throw createBlobTooLarge(sizeBytes, maxBytes);
      waiting.push(chunk);
      waitingBytes += chunk.byteLength;
      if (waitingBytes < PIECE_BYTES) continue;
      await this.#write(writing, Buffer.concat(waiting));
      waiting = [];
      waitingBytes = 0;
    }
    if (waitingBytes > 0) await this.#write(writing, Buffer.concat(waiting));
    return { upload, digest: writing.hash.digest("hex"), sizeBytes };
  }

  /** The bytes of a finished upload; ends early if a piece is missing. */
  async *read(upload: number): AsyncGenerator<Uint8Array> {
    for (let piece = 0; ; piece++) {
      const [row] = await this.#db.query("SELECT bytes FROM @blob_pieces WHERE upload = $1 AND piece = $2", [
        upload,
        piece,
      ]);
      if (!row) return;
      yield row.bytes as Uint8Array;
    }
  }

  async #write(writing: { hash: Hash; upload: number; piece: number }, bytes: Uint8Array): Promise<void> {
    writing.hash.update(bytes);
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
      await this.#db.query(
        "INSERT INTO @blob_pieces (upload, piece, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        [writing.upload, writing.piece++, bytes.subarray(at, at + PIECE_BYTES)],
      );
    }
  }
}
