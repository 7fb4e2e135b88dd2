import type {
  IndexTotals,
  SourceKind,
  SourceName,
  SourceRecord,
  SourceState,
} from "../../../log/store/memory-store.ts";
import { omitEmpty } from "../../../log/store/record-rows.ts";
import type { Database } from "../database.ts";
import { prepareValues, type ValueRow } from "../value-rows.ts";

/** Numbers of the kinds on disk. */
const KIND_NUMBERS: Readonly<Record<SourceKind, number>> = { session: 1, file: 2 };

const COLUMNS =
  "number, kind, name, version, cursor, root, size_bytes, modified_ms, definitions, turns, chunks, terms";

/** The sources of chunks. All methods must be called inside a transaction or a read. */
export class Sources {
  readonly #statements;

  constructor(db: Database) {
    this.#statements = {
      find: prepareValues(db, `SELECT ${COLUMNS} FROM sources WHERE kind = ? AND name = ?`),
      byNumber: prepareValues(db, `SELECT ${COLUMNS} FROM sources WHERE number = ?`),
      list: prepareValues(
        db,
        `SELECT ${COLUMNS} FROM sources WHERE number > ? AND (? IS NULL OR kind = ?) AND (? IS NULL OR root = ?) ORDER BY number LIMIT ?`,
      ),
      put: db.prepare(
        `INSERT INTO sources (kind, name, version, cursor, root, size_bytes, modified_ms, definitions)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET version = excluded.version, cursor = excluded.cursor, root = excluded.root,
           size_bytes = excluded.size_bytes, modified_ms = excluded.modified_ms,
           definitions = excluded.definitions RETURNING number`,
      ),
      count: db.prepare(
        "UPDATE sources SET turns = max(turns, ?), chunks = chunks + ?, terms = terms + ? WHERE number = ?",
      ),
      doom: db.prepare("UPDATE sources SET version = '' WHERE number = ?"),
      remove: db.prepare("DELETE FROM sources WHERE number = ?"),
      removeSpeakers: db.prepare("DELETE FROM speakers WHERE source = ?"),
      speak: db.prepare("INSERT OR IGNORE INTO speakers (source, name) VALUES (?, ?)"),
      speakers: db.prepare("SELECT DISTINCT name FROM speakers LIMIT ?"),
      totals: db.prepare(
        "SELECT count(*) AS sources, coalesce(sum(turns), 0) AS turns, coalesce(sum(chunks), 0) AS chunks, coalesce(sum(terms), 0) AS terms FROM sources",
      ),
    };
  }

  find({ kind, name }: SourceName): SourceRecord | undefined {
    const row = this.#statements.find.get(KIND_NUMBERS[kind], name);
    return row && toSource(row);
  }

  byNumber(number: number): SourceRecord | undefined {
    const row = this.#statements.byNumber.get(number);
    return row && toSource(row);
  }

  list(query: { kind?: SourceKind; root?: string; after?: number; limit: number }): SourceRecord[] {
    const kind = query.kind === undefined ? null : KIND_NUMBERS[query.kind];
    const root = query.root ?? null;
    return this.#statements.list.all(query.after ?? 0, kind, kind, root, root, query.limit).map(toSource);
  }

  /** Inserts or updates a source and returns its number. */
  put(source: SourceState): number {
    const { kind, name, version, cursor, root, sizeBytes, modifiedMs, definitions } = source;
    const row = this.#statements.put.get(
      KIND_NUMBERS[kind],
      name,
      version,
      cursor,
      root ?? null,
      sizeBytes ?? null,
      modifiedMs ?? null,
      definitions ? definitions.join(" ") : null,
    );
    return row?.number as number;
  }

  count(number: number, added: { lastTurn: number; chunks: number; terms: number }): void {
    this.#statements.count.run(added.lastTurn, added.chunks, added.terms, number);
  }

  /** Sets a version that no source has, so that anything a crash leaves of the source will be forgotten. */
  invalidate(number: number): void {
    this.#statements.doom.run(number);
  }

  remove(number: number): void {
    this.#statements.removeSpeakers.run(number);
    this.#statements.remove.run(number);
  }

  addSpeaker(number: number, name: string): void {
    this.#statements.speak.run(number, name);
  }

  speakers(limit: number): string[] {
    return this.#statements.speakers.all(limit).map((row) => row.name as string);
  }

  totals(): IndexTotals {
    return { ...(this.#statements.totals.get() as unknown as IndexTotals) };
  }
}

function toSource(row: ValueRow): SourceRecord {
  // In the order of COLUMNS.
  const [
    number,
    kind,
    name,
    version,
    cursor,
    root,
    sizeBytes,
    modifiedMs,
    definitions,
    turns,
    chunks,
    terms,
  ] = row;
  return {
    number: number as number,
    kind: kind === KIND_NUMBERS.session ? "session" : "file",
    name: name as string,
    version: version as string,
    cursor: cursor as number,
    ...omitEmpty({
      root: root as string | null,
      sizeBytes: sizeBytes as number | null,
      modifiedMs: modifiedMs as number | null,
      definitions: (definitions as string | null)?.split(" "),
    }),
    turns: turns as number,
    chunks: chunks as number,
    terms: terms as number,
  };
}
