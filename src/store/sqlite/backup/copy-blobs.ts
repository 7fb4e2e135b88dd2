import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Digest } from "../../../model/blob.ts";
import { BlobFiles } from "../blob-files.ts";
import { digestFile } from "./copy-verified.ts";

/** Result of copying blobs. */
interface CopiedBlobs {
  readonly blobs: number;
  readonly blobBytes: number;
  /** Blobs without a file. */
  readonly missing: readonly Digest[];
  /** Blobs whose bytes do not have their digest; they are not copied. */
  readonly damaged: readonly Digest[];
}

/** Copies blobs that are not in the target yet; each copy is verified while it is read. */
export async function copyBlobs(
  digests: Iterable<Digest>,
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<CopiedBlobs> {
  const [source, target] = [new BlobFiles(from, true), new BlobFiles(to)];
  const missing: Digest[] = [];
  const damaged: Digest[] = [];
  let blobs = 0;
  let blobBytes = 0;
  for (const digest of digests) {
    const path = target.pathOf(digest);
    const isCopied = existsSync(path);
    if (!isCopied) {
      try {
        const { sha256 } = await digestFile(source.pathOf(digest), { to: path, signal });
        if (sha256 !== digest) {
          damaged.push(digest);
          await rm(path, { force: true });
          continue;
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
          await rm(path, { force: true });
          throw error;
        }
        missing.push(digest);
        continue;
      }
    }
    blobs++;
    blobBytes += target.sizeOf(digest) ?? 0;
  }
  return { blobs, blobBytes, missing, damaged };
}
