import { type Digest, isDigest } from "../model/blob.ts";
import type { EntryBody } from "../model/entry.ts";

/** Digests of the blobs that a body refers to, without duplicates. */
export function findBodyBlobs(body: EntryBody): readonly Digest[] {
  const found = new Set<Digest>();
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (value === null || typeof value !== "object") continue;
    const { digest, sizeBytes } = value as { digest?: unknown; sizeBytes?: unknown };
    if (typeof digest === "string" && typeof sizeBytes === "number" && isDigest(digest)) found.add(digest);
    for (const inner of Object.values(value)) waiting.push(inner);
  }
  return [...found];
}
