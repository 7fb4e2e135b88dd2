import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { Worker } from "node:worker_threads";

export type DatabaseRow = Readonly<Record<string, SQLOutputValue>>;
type Rows = Iterator<DatabaseRow>;

/** Plain tables of a database with their columns. */
export type Schema = ReadonlyMap<string, ReadonlySet<string>>;

/** A question of the main process. Numbers name databases and lists of rows. */
export type SourceRequest =
  | { readonly do: "open"; readonly database: number; readonly path: string; readonly isCopy: boolean }
  | {
      readonly do: "rows";
      readonly database: number;
      readonly rows: number;
      readonly sql: string;
      readonly values: readonly (string | number)[];
      /** Only the first row is wanted. */
      readonly isFirst: boolean;
    }
  | { readonly do: "next" | "end"; readonly rows: number }
  | { readonly do: "close"; readonly database: number }
  /** Closes all databases. */
  | { readonly do: "clear" };

/** The answer: rows before an error are part of it. */
export interface SourceReply {
  readonly schema?: Schema;
  readonly rows?: readonly DatabaseRow[];
  /** Size of the rows in the file, at least. */
  readonly bytes?: number;
  readonly isDone?: boolean;
  readonly error?: string;
}

/** Bounds of one reply. */
const MAX_ROWS = 200;
const MAX_BYTES = 1024 * 1024;

const databases = new Map<number, DatabaseSync>();
const lists = new Map<number, { readonly rows: Rows; readonly database: number }>();

/**
 * Reads foreign databases in its own process. A query of a crafted file may run for ever inside SQLite, where a
 * thread can be neither interrupted nor terminated; a process can be killed.
 */
function answer(request: SourceRequest): SourceReply {
  switch (request.do) {
    case "open":
      return { schema: open(request.database, request.path, request.isCopy) };
    case "rows": {
      const db = databases.get(request.database) as DatabaseSync;
      const rows = db.prepare(request.sql).iterate(...request.values) as Rows;
      lists.set(request.rows, { rows, database: request.database });
      if (!request.isFirst) return take(request.rows);
      const first = take(request.rows, 1);
      end(request.rows);
      return { ...first, isDone: true };
    }
    case "next":
      return take(request.rows);
    case "end":
      end(request.rows);
      return {};
    case "close":
      for (const [id, { database }] of lists) if (database === request.database) lists.delete(id);
      databases.get(request.database)?.close();
      databases.delete(request.database);
      return {};
    case "clear":
      lists.clear();
      for (const db of databases.values()) db.close();
      databases.clear();
      return {};
  }
}

function open(id: number, path: string, isCopy: boolean): Schema {
  // A copy is opened for writing, because SQLite rolls its journal back.
  const db = isCopy ? new DatabaseSync(path) : new DatabaseSync(new URL(path), { readOnly: true });
  try {
    db.exec("PRAGMA trusted_schema = OFF");
    // Views, virtual tables and generated columns run what the file's author wrote; none of the agents uses them.
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").all();
    const columns = db.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0");
    const schema = new Map(
      tables.map(({ name }) => [
        String(name),
        new Set(columns.all(String(name)).map((one) => String(one.name))),
      ]),
    );
    databases.set(id, db);
    return schema;
  } catch (error) {
    db.close();
    throw error;
  }
}

function end(id: number): void {
  lists.get(id)?.rows.return?.();
  lists.delete(id);
}

/** Takes the next rows of a list; those before a damaged page are returned with the error. */
function take(id: number, maxRows = MAX_ROWS): SourceReply {
  const list = lists.get(id);
  const rows: DatabaseRow[] = [];
  let bytes = 0;
  try {
    while (list && rows.length < maxRows && bytes < MAX_BYTES) {
      const { value, done } = list.rows.next();
      if (done) {
        lists.delete(id);
        return { rows, bytes, isDone: true };
      }
      rows.push(value);
      bytes += measureRow(value);
    }
    return { rows, bytes, isDone: !list };
  } catch (error) {
    lists.delete(id);
    return { rows, bytes, isDone: true, error: (error as Error).message };
  }
}

function measureRow(row: DatabaseRow): number {
  let bytes = 1;
  for (const value of Object.values(row))
    if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
  return bytes;
}

process.on("message", (request: SourceRequest) => {
  let reply: SourceReply;
  try {
    reply = answer(request);
  } catch (error) {
    reply = { error: (error as Error).message };
  }
  process.send?.(reply);
});
// Ctrl-C reaches the whole group; the main process decides when reading ends.
process.on("SIGINT", () => undefined);
process.on("disconnect", () => process.exit());
// While SQLite runs, this thread does not see that the main process has died; another thread does.
const watch = `const { ppid } = process;
  setInterval(() => { if (process.ppid !== ppid) process.kill(process.pid, "SIGKILL"); }, 1000);`;
new Worker(watch, { eval: true }).unref();
