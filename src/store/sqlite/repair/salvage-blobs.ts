import type { Digest } from "../../../model/blob.ts";
import { BlobFiles } from "../blob-files.ts";

/** Copied blobs with their sizes, and blobs whose files are damaged. */
interface SalvagedBlobs {
  readonly copied: ReadonlyMap<Digest, number>;
  readonly damaged: readonly Digest[];
}

/** Copies every blob file whose bytes match its digest. */
export async function salvageBlobs(from: string, to: string): Promise<SalvagedBlobs> {
  const source = new BlobFiles(from, true);
  const target = new BlobFiles(to);
  const copied = new Map<Digest, number>();
  const damaged: Digest[] = [];
  for await (const digests of source.digests()) {
    for (const digest of digests) {
      const staged = await target.stage(source.read(digest), digest, { maxBytes: Number.MAX_SAFE_INTEGER });
      if (staged.digest === digest) {
        target.settle(staged);
        copied.set(digest, staged.sizeBytes);
      } else {
        target.drop(staged);
        damaged.push(digest);
      }
    }
  }
  return { copied, damaged };
}
