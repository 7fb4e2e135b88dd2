import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Total size of all files in a folder, recursively. */
export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}
