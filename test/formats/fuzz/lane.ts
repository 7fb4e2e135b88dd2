import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A folder that holds one set of files after the other; what is the same is not written again. */
export class Lane {
  readonly folder: string;
  #files: ReadonlyMap<string, Buffer> = new Map();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder hold exactly these files, by path. */
  hold(files: ReadonlyMap<string, Buffer>): void {
    for (const path of this.#files.keys()) if (!files.has(path)) unlinkSync(join(this.folder, path));
    for (const [path, bytes] of files) {
      const before = this.#files.get(path);
      if (before?.equals(bytes)) continue;
      // Some file systems write a file that is emptied to the disk at once; a new one they do not.
      if (before) unlinkSync(join(this.folder, path));
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), bytes);
    }
    this.#files = files;
  }
}
