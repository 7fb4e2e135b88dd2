import type {
  BlobStore,
  BlobWriteOptions,
  CollectedBlobs,
  CollectOptions,
  WrittenBlob,
} from "../../log/store/blob-store.ts";
import { addFreed, type FreedCounts, NOTHING_FREED } from "../../log/store/freed-counts.ts";
import type { Digest } from "../../model/blob.ts";
import type { Clock } from "../../model/clock.ts";
import type { BlobFiles } from "./blob-files.ts";
import { type BlobHolds, createOwnedName } from "./blob-holds.ts";
import { toDigestBytes } from "./blob-refs.ts";
import type { Database, Row } from "./database.ts";
import type { Eraser } from "./eraser.ts";
import { toStoreError } from "./store-error.ts";

const COLLECT_BATCH = 200;

/** The parts of the store that blobs work with. */
interface BlobDeps {
  readonly files: BlobFiles;
  readonly holds: BlobHolds;
  readonly eraser: Eraser;
  readonly clock: Clock;
}

/**
 * Blobs as files, with their references in the database. Files are named and removed only inside a write transaction,
 * so that writers and collectors of all processes agree.
 */
export class SqliteBlobs implements BlobStore {
  readonly #db: Database;
  readonly #files: BlobFiles;
  readonly #eraser: Eraser;
  readonly #clock: Clock;
  readonly #holds: BlobHolds;
  readonly #statements;

  constructor(db: Database, { files, holds, eraser, clock }: BlobDeps) {
    this.#db = db;
    this.#files = files;
    this.#holds = holds;
    this.#eraser = eraser;
    this.#clock = clock;
    this.#statements = {
      add: db.prepare("INSERT OR REPLACE INTO blobs (digest, size_bytes) VALUES (?, ?)"),
      known: db.prepare("SELECT 1 FROM blobs WHERE digest = ?"),
      idle: db.prepare(`
        SELECT digest FROM blobs b
        WHERE digest > ? AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.digest = b.digest)
          AND NOT EXISTS (SELECT 1 FROM blob_holds h WHERE h.digest = b.digest)
        ORDER BY digest LIMIT ${COLLECT_BATCH}`),
    };
  }

  async write(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: BlobWriteOptions,
  ): Promise<WrittenBlob> {
    const hold = createOwnedName();
    try {
      const staged = await this.#files.stage(bytes, hold, options);
      let created: boolean;
      try {
        created = await this.#db.transactBeside(() => {
          const settled = this.#files.settle(staged);
          const digest = toDigestBytes(staged.digest);
          if (!this.#statements.known.get(digest)) this.#statements.add.run(digest, staged.sizeBytes);
          this.#holds.add(hold, digest);
          return settled.created;
        });
      } catch (error) {
        this.#files.drop(staged);
        throw error;
      }
      if (created) await this.#files.syncFolder(staged.digest);
      return { digest: staged.digest, sizeBytes: staged.sizeBytes, created, hold };
    } catch (error) {
      throw toStoreError(error, this.#files.folder);
    }
  }

  async release(holds: readonly string[]): Promise<void> {
    await this.#db.transactBeside(() => {
      for (const hold of holds) this.#eraser.eraseBlobs(this.#holds.release(hold));
    });
  }

  /** Removes blobs whose writers died before they could refer to them. */
  async dropAbandoned(): Promise<FreedCounts> {
    return this.#db.transact(() => this.#eraser.eraseBlobs(this.#holds.releaseAbandoned()));
  }

  async *read(digest: Digest): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#files.read(digest);
    } catch (error) {
      throw toStoreError(error, this.#files.folder);
    }
  }

  async sizeOf(digest: Digest): Promise<number | undefined> {
    return this.#files.sizeOf(digest);
  }

  async collect({ dryRun = false, minAgeMs = 0 }: CollectOptions = {}): Promise<CollectedBlobs> {
    const now = this.#clock.now();
    const isOld = (digest: Digest) => now - (this.#files.writtenAt(digest) ?? 0) >= minAgeMs;
    const isDue = (digest: Uint8Array) => minAgeMs === 0 || isOld(toDigest(digest));
    const work = <T>(step: () => T) => (dryRun ? this.#db.snapshot(step) : this.#db.transact(step));
    let freed = dryRun || minAgeMs > 0 ? NOTHING_FREED : await this.dropAbandoned();
    if (!dryRun && minAgeMs > 0)
      freed = await this.#db.transact(() =>
        this.#eraser.eraseBlobs(this.#holds.releaseAbandoned().filter(isDue)),
      );
    for (let after: Uint8Array | undefined = new Uint8Array(0); after; ) {
      const cursor: Uint8Array = after;
      const step = await work(() => {
        const idle = digestsOf(this.#statements.idle.all(cursor));
        const due = idle.filter(isDue);
        return {
          erased: dryRun ? this.#eraser.countBlobs(due) : this.#eraser.eraseBlobs(due),
          last: idle.length === COLLECT_BATCH ? idle.at(-1) : undefined,
        };
      });
      freed = addFreed(freed, step.erased);
      after = step.last;
    }
    for await (const digests of this.#files.digests()) {
      const due = minAgeMs === 0 ? digests : digests.filter(isOld);
      freed = addFreed(freed, await work(() => this.#eraser.eraseStrayFiles(due, dryRun)));
    }
    return { ...freed, ...(await this.#files.sweepIncoming(now, dryRun)) };
  }
}

function toDigest(bytes: Uint8Array): Digest {
  return Buffer.from(bytes).toString("hex");
}

function digestsOf(rows: readonly Row[]): Uint8Array[] {
  return rows.map((row) => row.digest as Uint8Array);
}
