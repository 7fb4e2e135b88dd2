import type { ImportProgress } from "../../histories/index.ts";

/** The share of an import that is done. Compressed sources yield more bytes than they have on disk, so they count in conversations. */
export function computeImportShare({ bytesRead, totalBytes, index, count }: ImportProgress): number {
  if (totalBytes > 0 && bytesRead <= totalBytes) return bytesRead / totalBytes;
  return count > 0 ? index / count : 0;
}
