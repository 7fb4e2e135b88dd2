import { constants } from "node:fs";
import { copyFile, lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { LonghaulError } from "../../index.ts";
import { createDamageError } from "./damage-error.ts";

export type DatabaseRow = Readonly<Record<string, SQLOutputValue>>;

/** A foreign SQLite database, opened for reading. */
export interface SourceDatabase extends AsyncDisposable {
  /**
   * Yields rows one at a time. A damaged database yields the rows before the damage; then the generator throws
   * (`isDamaged`).
   */
  rows(sql: string, ...values: (string | number)[]): Generator<DatabaseRow>;
  hasTable(name: string): boolean;
  hasColumn(table: string, column: string): boolean;
  close(): Promise<void>;
}

const MAX_TRIES = 5;
const COPY_NAME = "source.db";

/** Suffixes of SQLite's journals: the write-ahead log and the rollback journal. */
const JOURNALS = ["-wal", "-journal"];

/**
 * Opens a database without modifying it. Reading in WAL mode writes to the files next to the database, so a database
 * with a journal is copied first; one without is opened as immutable.
 */
export async function openSourceDatabase(path: string, signal?: AbortSignal): Promise<SourceDatabase> {
  const copies = new DatabaseCopies();
  try {
    const database = await copies.open(path, signal);
    const close = async () => {
      await database.close();
      await copies.close();
    };
    return { ...database, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await copies.close();
    throw error;
  }
}

/**
 * Opens databases as `openSourceDatabase` does; a database with a journal is copied once for all callers, until it changes.
 */
export class DatabaseCopies implements AsyncDisposable {
  /** The latest copy. */
  #copy: { readonly path: string; readonly state: string; readonly folder: string } | undefined;

  async open(path: string, signal?: AbortSignal): Promise<SourceDatabase> {
    try {
      if ((await listJournals(path)).length === 0) {
        const url = pathToFileURL(path);
        url.searchParams.set("immutable", "1");
        return wrapDatabase(new DatabaseSync(url, { readOnly: true }), path);
      }
      return wrapDatabase(new DatabaseSync(await this.#copyOf(path, signal)), path);
    } catch (error) {
      signal?.throwIfAborted();
      throw new LonghaulError(
        "SOURCE_UNREADABLE",
        `${path} cannot be read as a SQLite database: ${(error as Error).message}.`,
        { cause: error, details: { path } },
      );
    }
  }

  /** Removes the copy; databases opened from it must be closed first. */
  async close(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    if (copy) await rm(copy.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #copyOf(path: string, signal: AbortSignal | undefined): Promise<string> {
    const state = await readState(path);
    if (this.#copy?.path !== path || this.#copy.state !== state) {
      await this.close();
      this.#copy = { path, state, folder: await mkdtemp(join(tmpdir(), "longhaul-source-")) };
      await copyDatabase(path, this.#copy.folder, signal);
    }
    return join(this.#copy.folder, COPY_NAME);
  }
}

/** Copies database and journal from one moment: retries if either changed meanwhile, up to MAX_TRIES times. */
async function copyDatabase(path: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const copy = join(folder, COPY_NAME);
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    for (const suffix of JOURNALS) await rm(copy + suffix, { force: true });
    const before = await readState(path);
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    for (const { suffix } of await listJournals(path))
      await copyFile(path + suffix, copy + suffix, constants.COPYFILE_FICLONE).catch(() => undefined);
    if ((await readState(path)) === before || tries === MAX_TRIES) return;
  }
}

/** Returns a text that changes whenever the database or a journal does. */
async function readState(path: string): Promise<string> {
  const main = await lstat(path);
  return [main.size, main.mtimeMs, ...(await listJournals(path)).map(({ state }) => state)].join();
}

/** Lists non-empty journals. Links are ignored: the user did not name their targets. */
async function listJournals(path: string): Promise<readonly { suffix: string; state: string }[]> {
  const facts = JOURNALS.map(async (suffix) => {
    const found = await lstat(path + suffix).catch(() => undefined);
    return found?.isFile() && found.size > 0 ? [{ suffix, state: `${found.size} ${found.mtimeMs}` }] : [];
  });
  return (await Promise.all(facts)).flat();
}

function wrapDatabase(db: DatabaseSync, path: string): SourceDatabase {
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch (error) {
    db.close();
    throw error;
  }
  const has = (sql: string, ...values: string[]) => db.prepare(sql).get(...values) !== undefined;
  const close = async () => {
    if (db.isOpen) db.close();
  };
  return {
    *rows(sql, ...values) {
      try {
        yield* db.prepare(sql).iterate(...values);
      } catch (error) {
        throw createDamageError(path, "cannot be read further", error);
      }
    },
    hasTable: (name) => has("SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?", name),
    hasColumn: (table, column) => has("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column),
    close,
    [Symbol.asyncDispose]: close,
  };
}
