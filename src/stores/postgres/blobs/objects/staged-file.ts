import { createHash } from "node:crypto";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlobWriteOptions } from "../../../../log/store/blob-store.ts";
import { createBlobTooLarge } from "../../../../log/store/refusals.ts";
import type { Digest } from "../../../../model/blob.ts";
import { throwIfAborted } from "../../../../model/errors.ts";

/** Bytes in a temporary file, whose digest is known; an object is named by it, so it must be known before the upload. */
export interface StagedFile {
  readonly path: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
  remove(): Promise<void>;
}

/** Writes a stream to a temporary file, hashing it on the way. */
export async function stageFile(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxBytes, signal }: BlobWriteOptions,
): Promise<StagedFile> {
  const folder = await mkdtemp(join(tmpdir(), "longhaul-blob-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "blob");
    const file = await open(path, "wx", 0o600);
    const hash = createHash("sha256");
    let sizeBytes = 0;
    try {
      for await (const chunk of bytes) {
        throwIfAborted(signal);
        sizeBytes += chunk.byteLength;
        if (sizeBytes > maxBytes) throw createBlobTooLarge(sizeBytes, maxBytes);
        hash.update(chunk);
        await file.writeFile(chunk);
      }
    } finally {
      await file.close();
    }
    return { path, digest: hash.digest("hex"), sizeBytes, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
