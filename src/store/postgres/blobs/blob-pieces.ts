import { createHash, type Hash } from "node:crypto";
import type { Digest } from "../../../model/blob.ts";
import { throwIfAborted } from "../../../model/errors.ts";
import type { BlobWriteOptions } from "../../blob-store.ts";
import { createBlobTooLarge } from "../../refusals.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";

/** Bytes of one row; larger blobs take several, so that none is ever whole in memory. */
const PIECE_BYTES = 256 * 1024;

/** A complete upload that is not yet a blob. */
export interface StagedBlob {
  readonly upload: number;
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** Streams bytes into rows under the number of a new upload, hashing them on the way. */
export class BlobPieces {
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
