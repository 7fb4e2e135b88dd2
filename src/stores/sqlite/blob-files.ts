import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BlobWriteOptions } from "../../log/store/blob-store.ts";
import { createBlobTooLarge } from "../../log/store/refusals.ts";
import type { Digest } from "../../model/blob.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import { isOwnedByRunningProcess } from "./blob-holds.ts";

const CHUNK_BYTES = 256 * 1024;
/** Age at which a crashed writer's temporary file is removed. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/** A complete, synced file under a temporary name. */
interface StagedFile {
  readonly path: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** The blob folder: `ab/cdef…` by digest, and `incoming/` for files being written. Does not know about references. */
export class BlobFiles {
  readonly folder: string;
  readonly #incoming: string;

  constructor(folder: string, isReadOnly = false) {
    this.folder = folder;
    this.#incoming = join(folder, "incoming");
    if (!isReadOnly) mkdirSync(this.#incoming, { recursive: true, mode: 0o700 });
  }

  pathOf(digest: Digest): string {
    return join(this.folder, digest.slice(0, 2), digest.slice(2));
  }

  /** Writes and syncs a stream under a temporary name, hashing it on the way. */
  async stage(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    name: string,
    options: BlobWriteOptions,
  ): Promise<StagedFile> {
    const path = join(this.#incoming, name);
    const hash = createHash("sha256");
    let sizeBytes = 0;
    try {
      const file = await open(path, "wx", 0o600);
      try {
        for await (const chunk of bytes) {
          throwIfAborted(options.signal);
          sizeBytes += chunk.byteLength;
          if (sizeBytes > options.maxBytes) throw createBlobTooLarge(sizeBytes, options.maxBytes);
          hash.update(chunk);
          await writeFully(file, chunk);
        }
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
    return { path, digest: hash.digest("hex"), sizeBytes };
  }

  /** Renames a staged file to its final name. Replaces an existing file, which may be damaged. */
  settle(staged: StagedFile): { readonly created: boolean } {
    const created = this.sizeOf(staged.digest) !== staged.sizeBytes;
    mkdirSync(join(this.folder, staged.digest.slice(0, 2)), { recursive: true, mode: 0o700 });
    try {
      renameSync(staged.path, this.pathOf(staged.digest));
    } catch (error) {
      // Windows does not replace a file that is open for reading.
      if (created) throw error;
      unlinkSync(staged.path);
    }
    return { created };
  }

  drop(staged: StagedFile): void {
    rmSync(staged.path, { force: true });
  }

  async *read(digest: Digest): AsyncGenerator<Uint8Array> {
    const file = await open(this.pathOf(digest), "r").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      throw new LonghaulError(
        "BLOB_NOT_FOUND",
        `Blob ${digest} is not in this store: it was deleted, or its file was removed from outside.`,
        {
          cause: error,
          details: { digest },
        },
      );
    });
    try {
      for (;;) {
        // A new buffer each time, because the caller may keep it.
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES), 0, CHUNK_BYTES);
        if (bytesRead === 0) return;
        yield bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  sizeOf(digest: Digest): number | undefined {
    return statSync(this.pathOf(digest), { throwIfNoEntry: false })?.size;
  }

  /** When the blob's file was written; undefined if it has none. */
  writtenAt(digest: Digest): number | undefined {
    return statSync(this.pathOf(digest), { throwIfNoEntry: false })?.mtimeMs;
  }

  /** Makes a new name survive a power loss; ignored where folders cannot be synced. */
  async syncFolder(digest: Digest): Promise<void> {
    const folder = await open(join(this.folder, digest.slice(0, 2)), "r").catch(() => undefined);
    await folder?.sync().catch(() => undefined);
    await folder?.close();
  }

  remove(digest: Digest): void {
    rmSync(this.pathOf(digest), { force: true });
  }

  /** All digests that have a file, one folder at a time. */
  async *digests(): AsyncGenerator<Digest[]> {
    for (const prefix of await readdir(this.folder)) {
      if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
      const names = await readdir(join(this.folder, prefix));
      yield names.filter((name) => /^[0-9a-f]{62}$/.test(name)).map((name) => prefix + name);
    }
  }

  /** Removes temporary files of crashed writers, or only counts them. */
  async sweepIncoming(
    now: number,
    isDryRun: boolean,
  ): Promise<{ readonly temporaryFiles: number; readonly temporaryBytes: number }> {
    let temporaryFiles = 0;
    let temporaryBytes = 0;
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found || now - found.mtimeMs < ABANDONED_AFTER_MS || isOwnedByRunningProcess(name)) continue;
      if (!isDryRun) rmSync(path, { force: true });
      temporaryFiles++;
      temporaryBytes += found.size;
    }
    return { temporaryFiles, temporaryBytes };
  }
}

async function writeFully(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, offset, chunk.byteLength - offset);
    offset += bytesWritten;
  }
}
