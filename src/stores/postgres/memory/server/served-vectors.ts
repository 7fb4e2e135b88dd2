import type { ScoredRow, ServedVector } from "../../../../log/store/index-server.ts";
import { SEGMENT_CHUNKS } from "../../../../log/store/memory-store.ts";
import type { PostgresDatabase, Sql, Transaction } from "../../connection/postgres-database.ts";
import { toNumbers } from "../index-segments.ts";
import { lockIndex } from "../index-state.ts";
import { buildSourceCondition } from "./source-condition.ts";

/** Rows that are added to the graph in one step, during which others cannot add to the index. */
const ROWS_PER_STEP = 256;
/** Candidates that a search of the graph holds: more find more of the nearest. */
const SEARCH_WIDTH = 400;
/** Rows that a filtered search visits at most. */
const MAX_VISITED = 100_000;
/** The largest number of dimensions that the graph can hold. */
const MAX_DIMENSIONS = 4_000;

/** The statements that vectors need; a database, or another engine in tests. */
type VectorDatabase = Pick<PostgresDatabase, "query" | "transact" | "schema">;

/**
 * Vectors in pgvector: one table with a graph (HNSW) for each embedder, of half-precision numbers, which hold our
 * signed bytes exactly in half the space of `vector`. Filled from the packed segments.
 */
export class ServedVectors {
  readonly #db: VectorDatabase;
  readonly #minSegments: number;
  /** Looked up once; a program that was started before the extension was installed does not use it. */
  #extension: Promise<VectorExtension | undefined> | undefined;

  constructor(db: VectorDatabase, minSegments: number) {
    this.#db = db;
    this.#minSegments = minSegments;
  }

  /** The first n segments that are in the graph; 0 without the extension. */
  async served(embedder: number): Promise<number> {
    if (!(await this.#findExtension())) return 0;
    const [row] = await this.#db.query("SELECT served FROM @embedders WHERE number = $1", [embedder]);
    return Number(row?.served ?? 0);
  }

  /** Adds the next packed segment of an embedder; false if there is none. */
  async fillNext(): Promise<boolean> {
    const extension = await this.#findExtension();
    if (!extension) return false;
    const [next] = await this.#db.query(
      `SELECT e.number, e.served, length(v.vectors) / ${SEGMENT_CHUNKS} AS dimensions, v.vectors, s.sources, i.stamp
       FROM @embedders e JOIN @vectors v ON v.embedder = e.number AND v.segment = e.served
       JOIN @segments s ON s.number = e.served CROSS JOIN @index_state i
       WHERE (SELECT count(*) FROM @vectors a WHERE a.embedder = e.number) >= $1
         AND length(v.vectors) / ${SEGMENT_CHUNKS} BETWEEN 1 AND ${MAX_DIMENSIONS} LIMIT 1`,
      [Math.max(1, this.#minSegments)],
    );
    if (!next) return false;
    const { number, served, dimensions } = next as Record<"number" | "served" | "dimensions", number>;
    const stamp = Number(next.stamp);
    const table = `@nearest_${number}`;
    const vectors = next.vectors as Uint8Array;
    const sources = toNumbers(next.sources as Uint8Array);
    const places = [...sources.keys()].filter(
      (place) =>
        sources[place] !== 0 && vectors.subarray(place * dimensions, (place + 1) * dimensions).some(Boolean),
    );
    const isStill = async (transaction: Transaction) => {
      const now = await lockIndex(transaction);
      if (now.stamp !== stamp) return false;
      const [row] = await transaction.query("SELECT served FROM @embedders WHERE number = $1", [number]);
      return Number(row?.served) === served;
    };
    const half = `"${extension.schema}".halfvec`;
    await this.#db.transact(async (transaction) => {
      await lockIndex(transaction);
      await transaction.execute(
        `CREATE TABLE IF NOT EXISTS ${table} (chunk bigint PRIMARY KEY, source bigint NOT NULL, vector ${half}(${dimensions}) NOT NULL);
         CREATE INDEX IF NOT EXISTS nearest_${number}_by_source ON ${table} (source);
         CREATE INDEX IF NOT EXISTS nearest_${number}_graph ON ${table} USING hnsw (vector "${extension.schema}".halfvec_ip_ops)`,
      );
    });
    for (let at = 0; at < places.length; at += ROWS_PER_STEP) {
      const step = places.slice(at, at + ROWS_PER_STEP);
      const isWritten = await this.#db.transact(async (transaction) => {
        if (!(await isStill(transaction))) return false;
        await transaction.query(
          `INSERT INTO ${table} (chunk, source, vector)
           SELECT chunk, source, vector::${half} FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS v (chunk, source, vector)
           ON CONFLICT (chunk) DO NOTHING`,
          [
            step.map((place) => served * SEGMENT_CHUNKS + place),
            step.map((place) => sources[place] as number),
            step.map((place) => toVectorText(vectors.subarray(place * dimensions, (place + 1) * dimensions))),
          ],
        );
        return true;
      });
      if (!isWritten) return true;
    }
    await this.#db.transact(async (transaction) => {
      if (await isStill(transaction))
        await transaction.query("UPDATE @embedders SET served = $2 WHERE number = $1", [number, served + 1]);
    });
    return true;
  }

  async find({ embedder, vector, segments, filter, limit }: ServedVector): Promise<readonly ScoredRow[]> {
    const extension = await this.#findExtension();
    if (!extension || segments === 0) return [];
    const condition = buildSourceCondition(filter, "source", 4);
    const rows = await this.#db.transact(async (transaction) => {
      await this.#widen(transaction, extension);
      return transaction.query(
        `SELECT chunk, -(vector OPERATOR("${extension.schema}".<#>) $1::"${extension.schema}".halfvec) AS product
         FROM @nearest_${embedder} WHERE chunk < $2 AND ${condition.sql}
         ORDER BY vector OPERATOR("${extension.schema}".<#>) $1::"${extension.schema}".halfvec LIMIT $3`,
        [toVectorText(vector), segments * SEGMENT_CHUNKS, limit, ...condition.values],
      );
    });
    return rows.map(({ chunk, product }) => ({ chunk: Number(chunk), score: Number(product) }));
  }

  async products(
    embedder: number,
    vector: Int8Array,
    chunks: readonly number[],
    sql: Sql = this.#db,
  ): Promise<ReadonlyMap<number, number>> {
    const extension = await this.#findExtension();
    if (!extension || chunks.length === 0) return new Map();
    const rows = await sql.query(
      `SELECT chunk, -(vector OPERATOR("${extension.schema}".<#>) $1::"${extension.schema}".halfvec) AS product
       FROM @nearest_${embedder} WHERE chunk = ANY($2::bigint[])`,
      [toVectorText(vector), chunks],
    );
    return new Map(rows.map(({ chunk, product }) => [Number(chunk), Number(product)]));
  }

  /** Within a transaction: removes chunks from all graphs. */
  async erase(transaction: Transaction, chunks: readonly number[]): Promise<void> {
    for (const number of await this.#listTables(transaction))
      await transaction.query(`DELETE FROM @nearest_${number} WHERE chunk = ANY($1::bigint[])`, [chunks]);
  }

  /** Removes the graphs of all other embedders. */
  async dropOthers(embedder: number): Promise<void> {
    for (const number of await this.#listTables(this.#db)) {
      if (number === embedder) continue;
      await this.#db.transact(async (transaction) => {
        await lockIndex(transaction);
        await transaction.query("UPDATE @embedders SET served = 0 WHERE number = $1", [number]);
        await transaction.execute(`DROP TABLE IF EXISTS @nearest_${number}`);
      });
    }
  }

  /** Embedders that have a table, finished or not. */
  async #listTables(sql: Sql): Promise<readonly number[]> {
    const rows = await sql.query(
      "SELECT number FROM @embedders WHERE EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'nearest_' || number)",
      [this.#db.schema],
    );
    return rows.map(({ number }) => Number(number));
  }

  /** Within a transaction: lets a search of the graph find more, also behind a filter. */
  async #widen(transaction: Transaction, { isIterative }: VectorExtension): Promise<void> {
    await transaction.query(
      isIterative
        ? `SELECT set_config('hnsw.ef_search', '${SEARCH_WIDTH}', true), set_config('hnsw.iterative_scan', 'strict_order', true),
             set_config('hnsw.max_scan_tuples', '${MAX_VISITED}', true)`
        : `SELECT set_config('hnsw.ef_search', '${SEARCH_WIDTH}', true)`,
    );
  }

  #findExtension(): Promise<VectorExtension | undefined> {
    this.#extension ??= findVectorExtension(this.#db).catch((error) => {
      this.#extension = undefined;
      throw error;
    });
    return this.#extension;
  }
}

/** A vector of signed bytes as pgvector reads it. */
function toVectorText(bytes: Uint8Array | Int8Array): string {
  return `[${new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).join(",")}]`;
}

/** The extension pgvector, where a database has it. */
interface VectorExtension {
  /** The schema of its types and operators, which need not be on the search path. */
  readonly schema: string;
  /** True if filtered searches can go on until they have enough. */
  readonly isIterative: boolean;
}

/** `halfvec` exists since 0.7, iterative scans since 0.8. */
const MIN_VERSION = 7;
const ITERATIVE_VERSION = 8;

/** Finds pgvector in the current database; undefined if it is not installed there, or too old. */
async function findVectorExtension(sql: Sql): Promise<VectorExtension | undefined> {
  const [row] = await sql.query(
    `SELECT e.extversion::text AS version, n.nspname::text AS schema FROM pg_extension e
     JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`,
  );
  if (!row) return undefined;
  const [major = 0, minor = 0] = (row.version as string).split(".").map(Number);
  const version = major > 0 ? Number.POSITIVE_INFINITY : minor;
  if (version < MIN_VERSION) return undefined;
  return { schema: row.schema as string, isIterative: version >= ITERATIVE_VERSION };
}
