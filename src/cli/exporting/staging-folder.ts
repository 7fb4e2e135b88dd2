import { type FileHandle, link, mkdir, mkdtemp, open, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The target exists, and --force was not given. */
export class TargetExistsError extends Error {
  readonly code = "EEXIST";

  constructor(path: string, remedy = "--force overwrites it") {
    super(`${path} already exists; ${remedy}.`);
    this.name = "AlreadyThere";
  }
}

/** Tells whether a path is a file, a folder or absent. */
export async function findPathKind(path: string): Promise<"file" | "folder" | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  return found.isDirectory() ? "folder" : "file";
}

/**
 * Stages output files in a temporary folder and moves them when all are complete. Until then no target is touched, and
 * a reader never sees half a file.
 */
export class StagingFolder implements AsyncDisposable {
  readonly #folder: string;
  readonly #isForced: boolean;
  /** Name of each staged file by target path. */
  readonly #names = new Map<string, string>();
  #current: { readonly target: string; readonly file: FileHandle } | undefined;
  #sizeBytes = 0;

  private constructor(folder: string, isForced: boolean) {
    this.#folder = folder;
    this.#isForced = isForced;
  }

  /** Stages next to the target, on the same file system, so that a move is a rename. */
  static async createNextTo(path: string, isForced: boolean): Promise<StagingFolder> {
    const home = (await findPathKind(path)) === "folder" ? path : dirname(path);
    if (!(await findPathKind(home))) {
      throw Object.assign(new Error(`There is no folder ${home}; create it first.`), { code: "ENOENT" });
    }
    return new StagingFolder(await mkdtemp(join(home, ".longhaul-export-")), isForced);
  }

  get files(): readonly string[] {
    return [...this.#names.keys()];
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Appends text or bytes to the file for `target`. */
  async write(target: string, text: string | Uint8Array): Promise<void> {
    if (this.#current?.target !== target) await this.#begin(target);
    await this.#current?.file.appendFile(text);
    this.#sizeBytes += Buffer.byteLength(text);
  }

  /** Moves all files to their targets; throws before the first move if a target exists. */
  async commit(): Promise<void> {
    await this.#end();
    for (const target of this.#names.keys()) await this.#checkFree(target);
    const moved: string[] = [];
    try {
      for (const [target, name] of this.#names) {
        await mkdir(dirname(target), { recursive: true });
        await this.#move(join(this.#folder, name), target);
        moved.push(target);
      }
    } catch (error) {
      // All files or none. A file that replaced another one stays, because the other one is gone.
      if (!this.#isForced) for (const target of moved) await rm(target, { force: true });
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #begin(target: string): Promise<void> {
    await this.#end();
    await this.#checkFree(target);
    const name = this.#names.get(target) ?? String(this.#names.size);
    this.#names.set(target, name);
    this.#current = { target, file: await open(join(this.#folder, name), "a") };
  }

  async #end(): Promise<void> {
    const { file } = this.#current ?? {};
    this.#current = undefined;
    await file?.close();
  }

  async #checkFree(target: string): Promise<void> {
    if (!this.#isForced && (await findPathKind(target))) throw new TargetExistsError(target);
  }

  /** Without --force a hard link is used: unlike a rename, it fails if a file has appeared at the target. */
  async #move(from: string, to: string): Promise<void> {
    if (this.#isForced) return rename(from, to);
    const refuse = (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw new TargetExistsError(to);
      return error;
    };
    const error = await link(from, to).catch(refuse);
    if (!error) return unlink(from);
    // Not every file system supports links: an empty file takes the place before the move.
    const place = await open(to, "wx").catch((failure) => {
      throw refuse(failure);
    });
    await place.close();
    await rename(from, to);
  }
}
