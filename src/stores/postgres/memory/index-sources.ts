import type {
  IndexTotals,
  SourceKind,
  SourceName,
  SourceRecord,
  SourceState,
} from "../../../log/store/memory-store.ts";
import { omitEmpty } from "../../../log/store/record-rows.ts";
import type { Sql, Transaction } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import type { LockedState } from "./index-state.ts";

/** Numbers of the kinds on disk. */
const SOURCE_KINDS: Readonly<Record<SourceKind, number>> = { session: 1, file: 2 };

const SELECT =
  "SELECT number, kind, name, version, cursor, root, size_bytes, modified_ms, definitions, turns, chunks, terms FROM @sources";

export async function findSource(sql: Sql, { kind, name }: SourceName): Promise<SourceRecord | undefined> {
  const [row] = await sql.query(`${SELECT} WHERE kind = $1 AND name = $2`, [SOURCE_KINDS[kind], name]);
  return row && toSourceRecord(row);
}

/** The sources of numbers, in their order; missing ones are left out. */
export async function findSourcesByNumber(
  sql: Sql,
  numbers: readonly number[],
): Promise<readonly SourceRecord[]> {
  const rows = await sql.query(`${SELECT} WHERE number = ANY($1::bigint[])`, [numbers]);
  const byNumber = new Map(rows.map((row) => [row.number as number, toSourceRecord(row)]));
  return numbers.flatMap((number) => byNumber.get(number) ?? []);
}

export async function listSources(
  sql: Sql,
  query: { kind?: SourceKind; root?: string; after?: number; limit: number },
): Promise<readonly SourceRecord[]> {
  const rows = await sql.query(
    `${SELECT} WHERE number > $1 AND ($2::smallint IS NULL OR kind = $2) AND ($3::text IS NULL OR root = $3) ORDER BY number LIMIT $4`,
    [
      query.after ?? 0,
      query.kind === undefined ? null : SOURCE_KINDS[query.kind],
      query.root ?? null,
      query.limit,
    ],
  );
  return rows.map(toSourceRecord);
}

/** Within a transaction that has locked the index: inserts or updates a source and returns its number. */
export async function putSource(
  transaction: Transaction,
  state: LockedState,
  source: SourceState,
  known: number | undefined,
): Promise<number> {
  const { kind, name, version, cursor, root, sizeBytes, modifiedMs, definitions } = source;
  const number = known ?? ++state.lastSource;
  await transaction.query(
    `INSERT INTO @sources (number, kind, name, version, cursor, root, size_bytes, modified_ms, definitions)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (number) DO UPDATE SET version = excluded.version, cursor = excluded.cursor, root = excluded.root,
       size_bytes = excluded.size_bytes, modified_ms = excluded.modified_ms, definitions = excluded.definitions`,
    [
      number,
      SOURCE_KINDS[kind],
      name,
      version,
      cursor,
      root ?? null,
      sizeBytes ?? null,
      modifiedMs ?? null,
      definitions ? definitions.join(" ") : null,
    ],
  );
  return number;
}

export async function countSource(
  transaction: Transaction,
  number: number,
  added: { lastTurn: number; chunks: number; terms: number },
): Promise<void> {
  await transaction.query(
    "UPDATE @sources SET turns = greatest(turns, $2), chunks = chunks + $3, terms = terms + $4 WHERE number = $1",
    [number, added.lastTurn, added.chunks, added.terms],
  );
}

export async function addSpeakers(
  transaction: Transaction,
  number: number,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await transaction.query(
    "INSERT INTO @speakers (source, name) SELECT DISTINCT $1::bigint, name FROM unnest($2::text[]) AS n (name) ON CONFLICT DO NOTHING",
    [number, names],
  );
}

export async function listSpeakers(sql: Sql, limit: number): Promise<readonly string[]> {
  const rows = await sql.query("SELECT DISTINCT name FROM @speakers LIMIT $1", [limit]);
  return rows.map(({ name }) => name as string);
}

export async function readTotals(sql: Sql): Promise<IndexTotals> {
  const [row] = await sql.query(
    `SELECT count(*) AS sources, coalesce(sum(turns), 0)::bigint AS turns, coalesce(sum(chunks), 0)::bigint AS chunks,
       coalesce(sum(terms), 0)::bigint AS terms FROM @sources`,
  );
  return row as unknown as IndexTotals;
}

function toSourceRecord(row: SqlRow): SourceRecord {
  return {
    number: row.number as number,
    kind: row.kind === SOURCE_KINDS.session ? "session" : "file",
    name: row.name as string,
    version: row.version as string,
    cursor: row.cursor as number,
    ...omitEmpty({
      root: row.root as string | null,
      sizeBytes: row.size_bytes as number | null,
      modifiedMs: row.modified_ms as number | null,
      definitions: (row.definitions as string | null)?.split(" "),
    }),
    turns: row.turns as number,
    chunks: row.chunks as number,
    terms: row.terms as number,
  };
}
