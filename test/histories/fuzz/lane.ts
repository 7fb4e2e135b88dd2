import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A folder that contains one set of files after the other; unchanged files are not rewritten. */
export class Lane {
  readonly folder: string;
  #files: ReadonlyMap<string, Buffer> = new Map();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder contain exactly these files. */
  hold(files: ReadonlyMap<string, Buffer>): void {
    for (const path of this.#files.keys()) if (!files.has(path)) unlinkSync(join(this.folder, path));
    for (const [path, bytes] of files) {
      const before = this.#files.get(path);
      if (before?.equals(bytes)) continue;
      // Some file systems flush a truncated file at once, but not a new one.
      if (before) unlinkSync(join(this.folder, path));
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), bytes);
    }
    this.#files = files;
  }
}
