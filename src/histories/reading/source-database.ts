import { type ChildProcess, fork } from "node:child_process";
import { constants } from "node:fs";
import { copyFile, lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { LonghaulError } from "../../kernel/index.ts";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import { SerialQueue } from "../../model/base/serial-queue.ts";
import { runWithTimeLimit } from "../../model/base/time-limit.ts";
import { createDamageError } from "./damage-error.ts";
import type { DatabaseRow, Schema, SourceReply, SourceRequest } from "./source-worker.ts";

export type { DatabaseRow } from "./source-worker.ts";

/** A foreign SQLite database, opened for reading. */
export interface SourceDatabase extends AsyncDisposable {
  /**
   * Yields rows one at a time. A damaged database yields the rows before the damage; then the generator throws
   * (`isDamaged`).
   */
  rows(sql: string, ...values: (string | number)[]): AsyncGenerator<DatabaseRow>;
  /** Returns the first row of a query. */
  first(sql: string, ...values: (string | number)[]): Promise<DatabaseRow | undefined>;
  /** Tells whether there is a plain table of this name; views are not read. */
  hasTable(name: string): boolean;
  hasColumn(table: string, column: string): boolean;
  close(): Promise<void>;
}

/** How a database is opened. */
interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
  /** Longest time of one query, after which the process that reads is killed. */
  readonly maxQueryMs?: number | undefined;
}

const MAX_QUERY_MS = 30_000;
const MAX_TRIES = 5;
const COPY_NAME = "source.db";

/** A file above this size that occupies less than a 50th of it on disk is sparse: its copy could fill the disk. */
const SPARSE_BYTES = 64 * 1024 * 1024;
const SPARSE_SHARE = 50;

/** A database gives no more than its file holds, several times over; more comes from pages that point at each other. */
const MAX_REREADS = 8;
const FREE_BYTES = 1024 * 1024;

/** Suffixes of SQLite's journals: the write-ahead log and the rollback journal. */
const JOURNALS = ["-wal", "-journal"];

/**
 * Opens a database without modifying it, in another process. Reading in WAL mode writes to the files next to the
 * database, so a database with a journal is copied first; one without is opened as immutable.
 */
export async function openSourceDatabase(path: string, options: OpenOptions = {}): Promise<SourceDatabase> {
  const copies = new DatabaseCopies();
  try {
    const database = await copies.open(path, options);
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
 * Opens databases as `openSourceDatabase` does; a database with a journal is copied once for all callers, until it
 * changes, and one process reads for all of them.
 */
export class DatabaseCopies implements AsyncDisposable {
  /** The latest copy. */
  #copy: { readonly path: string; readonly state: string; readonly folder: string } | undefined;
  readonly #process = new SourceProcess();
  #opened = 0;

  async open(path: string, options: OpenOptions = {}): Promise<SourceDatabase> {
    const { signal } = options;
    try {
      const isCopy = (await listJournals(path)).length > 0;
      const url = pathToFileURL(path);
      url.searchParams.set("immutable", "1");
      const target = isCopy ? await this.#copyOf(path, signal) : url.href;
      const database = ++this.#opened;
      const reply = await this.#process.ask({ do: "open", database, path: target, isCopy }, options);
      if (!reply.schema) throw new Error(reply.error);
      return this.#wrap(database, reply.schema, path, (await lstat(path)).size, options);
    } catch (error) {
      signal?.throwIfAborted();
      throw new LonghaulError(
        "SOURCE_UNREADABLE",
        `${path} cannot be read as a SQLite database: ${(error as Error).message}.`,
        { cause: error, details: { path } },
      );
    }
  }

  #wrap(
    database: number,
    schema: Schema,
    path: string,
    sizeBytes: number,
    options: OpenOptions,
  ): SourceDatabase {
    const process = this.#process;
    let bytesLeft = MAX_REREADS * sizeBytes + FREE_BYTES;
    async function* read(
      isFirst: boolean,
      sql: string,
      values: readonly (string | number)[],
    ): AsyncGenerator<DatabaseRow> {
      const rows = process.nextList();
      let isDone = false;
      try {
        let reply = await process.ask({ do: "rows", database, rows, sql, values, isFirst }, options);
        for (; ; reply = await process.ask({ do: "next", rows }, options)) {
          isDone = reply.isDone === true || reply.error !== undefined;
          bytesLeft -= reply.bytes ?? 0;
          if (bytesLeft < 0) throw new Error("it gives more than the file can hold");
          yield* reply.rows ?? [];
          if (reply.error !== undefined) throw new Error(reply.error);
          if (isDone) return;
        }
      } catch (error) {
        options.signal?.throwIfAborted();
        throw createDamageError(path, "cannot be read further", error);
      } finally {
        if (!isDone) await process.ask({ do: "end", rows }, options).catch(() => undefined);
      }
    }
    const close = async () => {
      if (process.isRunning) await process.ask({ do: "close", database }, {}).catch(() => undefined);
    };
    return {
      rows: (sql, ...values) => read(false, sql, values),
      first: async (sql, ...values) => {
        for await (const row of read(true, sql, values)) return row;
        return undefined;
      },
      hasTable: (name) => schema.has(name),
      hasColumn: (table, column) => schema.get(table)?.has(column) === true,
      close,
      [Symbol.asyncDispose]: close,
    };
  }

  /** Removes the copy and lets the process that reads go; databases opened from it must be closed first. */
  async close(): Promise<void> {
    await this.#process.release();
    await this.#removeCopy();
  }

  async #removeCopy(): Promise<void> {
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
      await this.#removeCopy();
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
    for (const suffix of ["", ...JOURNALS]) await refuseSparse(path + suffix);
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

/** Refuses a file with holes that would fill the disk as a copy. */
async function refuseSparse(path: string): Promise<void> {
  const { size = 0, blocks = 0 } = (await lstat(path).catch(() => undefined)) ?? {};
  if (size > SPARSE_BYTES && blocks * 512 * SPARSE_SHARE < size)
    throw new Error(
      `it is a sparse file of ${size} bytes, of which ${blocks * 512} are on the disk; it is not copied`,
    );
}

/** How long a process without databases waits for the next reader: most readers follow at once. */
const IDLE_MS = 5_000;

/**
 * The process that reads foreign databases (`source-worker.ts`); it starts with the first question. One process waits
 * for the next reader, because starting one takes longer than reading most databases.
 */
class SourceProcess {
  static #waiting: { readonly child: ChildProcess; readonly timer: NodeJS.Timeout } | undefined;
  readonly #queue = new SerialQueue();
  #child: ChildProcess | undefined;
  #lists = 0;

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  nextList(): number {
    return ++this.#lists;
  }

  /** Asks one question; a process that does not answer in time, or whose caller has left, is killed. */
  ask(request: SourceRequest, options: OpenOptions): Promise<SourceReply> {
    const { signal, maxQueryMs: limitMs = MAX_QUERY_MS } = options;
    const lateError = () => new Error(`a query took longer than ${limitMs / 1000} s and was ended`);
    return this.#queue.run(async () => {
      try {
        return await runWithTimeLimit({ limitMs, signal, lateError }, () => this.#send(request));
      } catch (error) {
        this.end();
        throw error;
      }
    });
  }

  end(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  /** Leaves the process to the next reader, or ends it where one waits already or this one does not answer. */
  async release(): Promise<void> {
    if (this.#child) await this.ask({ do: "clear" }, {}).catch(() => undefined);
    const child = this.#child;
    if (!child?.connected || SourceProcess.#waiting?.child.connected) return this.end();
    this.#child = undefined;
    child.unref();
    child.channel?.unref();
    const timer = setTimeout(() => child.kill("SIGKILL"), IDLE_MS).unref();
    SourceProcess.#waiting = { child, timer };
  }

  /** Takes the process that waits, or starts one. */
  #start(): ChildProcess {
    const waiting = SourceProcess.#waiting;
    SourceProcess.#waiting = undefined;
    clearTimeout(waiting?.timer);
    if (waiting?.child.connected && !waiting.child.killed) {
      waiting.child.ref();
      waiting.child.channel?.ref();
      return waiting.child;
    }
    return fork(fileURLToPath(resolveModuleFile("histories/reading/source-worker")), {
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
  }

  async #send(request: SourceRequest): Promise<SourceReply> {
    if (!this.#child && request.do !== "open") throw new Error("the process that read it was ended");
    this.#child ??= this.#start();
    const child = this.#child;
    const listening = new AbortController();
    try {
      return await new Promise<SourceReply>((resolve, reject) => {
        const onReply = (reply: unknown) => resolve(reply as SourceReply);
        const onEnd = () => reject(new Error("the process that reads it ended"));
        child.on("message", onReply).on("error", reject).on("exit", onEnd);
        listening.signal.addEventListener("abort", () =>
          child.off("message", onReply).off("error", reject).off("exit", onEnd),
        );
        child.send(request);
      });
    } finally {
      listening.abort();
    }
  }
}
