import { packBody, readBodyHash, readBodyTerms } from "../../../log/store/chunk-body.ts";
import {
  CHUNK_AUTHORS,
  type ChunkBatch,
  type NewChunk,
  type StoredChunk,
  type TailChunk,
  type TurnRange,
} from "../../../log/store/memory-store.ts";
import { collectNear } from "../../../log/store/near-chunks.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import type { PostgresDatabase, Sql, Transaction } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import type { IndexDictionary } from "./index-dictionary.ts";
import { addSpeakers, countSource, findSource, putSource } from "./index-sources.ts";
import { lockIndex, saveIndex } from "./index-state.ts";
import { packBytes } from "./packed-bytes.ts";

const COLUMNS =
  "c.number, c.source, c.turn, c.seq, c.part, c.start, c.stop, c.at, c.author, c.speaker, c.traits, c.turn_length, c.body";

/** Chunks cached in memory, about 1 KB each: questions of one conversation find the same chunks repeatedly. */
const MAX_CACHED = 8_192;
const BYTES_PER_CHUNK = 1_000;

/** A turn of a source whose chunks are wanted. */
type WantedTurn = readonly [source: number, turn: number];

/** Chunks as rows. */
export class IndexChunks {
  readonly #db: PostgresDatabase;
  readonly #dictionary: IndexDictionary;
  readonly #cache = new BoundedMap<number, StoredChunk>({ max: MAX_CACHED });
  #stamp = -1;

  constructor(db: PostgresDatabase, dictionary: IndexDictionary) {
    this.#db = db;
    this.#dictionary = dictionary;
  }

  /** Approximate bytes of the cache. */
  get cachedBytes(): number {
    return this.#cache.size * BYTES_PER_CHUNK;
  }

  dropCache(): void {
    this.#cache.clear();
  }

  async add({ source, expected, stamp, chunks }: ChunkBatch): Promise<boolean> {
    const added = await this.#db.transact(async (transaction) => {
      const state = await lockIndex(transaction);
      const known = await findSource(transaction, source);
      if (known?.cursor !== expected || (known && known.version !== source.version)) return undefined;
      if (state.stamp !== stamp) return undefined;
      this.#dictionary.refresh(stamp);
      const terms = await this.#dictionary.requireAll(
        transaction,
        state,
        chunks.flatMap((chunk) => chunk.terms),
      );
      const number = await putSource(transaction, state, source, known?.number);
      const first = state.lastChunk + 1;
      state.lastChunk += chunks.length;
      const bodies = chunks.map((chunk) =>
        packBody(
          chunk.hash,
          chunk.terms.map((term) => terms.get(term) as number),
        ),
      );
      await insertChunks(transaction, first, number, chunks, bodies);
      await addSpeakers(
        transaction,
        number,
        chunks.flatMap(({ speaker }) => speaker ?? []),
      );
      await countSource(transaction, number, {
        lastTurn: chunks.reduce((last, { turn }) => Math.max(last, turn), 0),
        chunks: chunks.length,
        terms: chunks.reduce((sum, chunk) => sum + chunk.terms.length, 0),
      });
      await saveIndex(transaction, state);
      return terms;
    });
    if (!added) return false;
    for (const [term, number] of added) this.#dictionary.hold(term, number);
    return true;
  }

  async get(numbers: readonly number[]): Promise<StoredChunk[]> {
    await this.#refresh();
    const found = await this.#find(this.#db, numbers);
    return numbers.flatMap((number) => found.get(number) ?? []);
  }

  async around(
    wanted: readonly { readonly number: number; readonly reach: number }[],
    limit: number,
  ): Promise<StoredChunk[]> {
    await this.#refresh();
    // Neighbors mostly have consecutive numbers, so one read finds nearly all of them.
    const near = new Set<number>();
    for (const { number } of wanted)
      for (let at = Math.max(1, number - limit); at <= number + limit; at++) near.add(at);
    const known = await this.#find(this.#db, [...near]);
    const found = new Map<number, StoredChunk>();
    const turns: WantedTurn[] = [];
    const read = {
      chunk: (number: number) => known.get(number),
      turn: (source: number, turn: number) => void turns.push([source, turn]),
    };
    for (const { number, reach } of wanted) collectNear(read, number, reach, limit, found);
    for (const chunk of await this.#readTurns(turns, limit)) found.set(chunk.number, chunk);
    return [...found.values()];
  }

  async turns(ranges: readonly TurnRange[], limit: number): Promise<StoredChunk[]> {
    await this.#refresh();
    const turns = ranges.flatMap(({ source, from, to }) =>
      Array.from({ length: Math.max(0, to - from + 1) }, (_, index): WantedTurn => [source, from + index]),
    );
    const found = new Map<number, StoredChunk>();
    for (const chunk of await this.#readTurns(turns, limit)) found.set(chunk.number, chunk);
    return [...found.values()];
  }

  /** The newest chunks in which a user states a rule or a preference; the condition is that of the index. */
  async standing(limit: number): Promise<number[]> {
    const rows = await this.#db.query(
      "SELECT number FROM @chunks WHERE author = 1 AND traits & 384 <> 0 ORDER BY number DESC LIMIT $1",
      [limit],
    );
    return rows.map(({ number }) => number as number);
  }

  /** Chunks with a decision, newest first; the condition is that of the index. */
  async decisions(limit: number, skipped: number): Promise<number[]> {
    const rows = await this.#db.query(
      "SELECT number FROM @chunks WHERE traits & 262144 <> 0 ORDER BY at DESC, number DESC LIMIT $1 OFFSET $2",
      [limit, skipped],
    );
    return rows.map(({ number }) => number as number);
  }

  async inPeriod(fromMs: number, toMs: number, limit: number): Promise<number[]> {
    const rows = await this.#db.query("SELECT number FROM @chunks WHERE at BETWEEN $1 AND $2 LIMIT $3", [
      Math.ceil(fromMs),
      Math.floor(toMs),
      limit,
    ]);
    return rows.map(({ number }) => number as number);
  }

  /** The terms of chunks, starting at a number. */
  async termsFrom(sql: Sql, from: number, limit: number): Promise<TailChunk[]> {
    const rows = await sql.query(
      "SELECT number, source, body FROM @chunks WHERE number >= $1 ORDER BY number LIMIT $2",
      [from, limit],
    );
    return rows.map((row) => ({
      number: row.number as number,
      source: row.source as number,
      terms: readBodyTerms(row.body as Uint8Array),
    }));
  }

  async #find(sql: Sql, numbers: readonly number[]): Promise<Map<number, StoredChunk>> {
    const found = new Map<number, StoredChunk>();
    const unknown: number[] = [];
    for (const number of numbers) {
      const held = this.#cache.use(number);
      if (held) found.set(number, held);
      else unknown.push(number);
    }
    if (unknown.length === 0) return found;
    const rows = await sql.query(`SELECT ${COLUMNS} FROM @chunks c WHERE c.number = ANY($1::bigint[])`, [
      unknown,
    ]);
    for (const chunk of await this.#toChunks(sql, rows)) {
      found.set(chunk.number, chunk);
      this.#cache.set(chunk.number, chunk);
    }
    return found;
  }

  /** The first `limit` chunks of each turn. */
  async #readTurns(turns: readonly WantedTurn[], limit: number): Promise<StoredChunk[]> {
    if (turns.length === 0) return [];
    const rows = await this.#db.query(
      `SELECT ${COLUMNS} FROM unnest($1::bigint[], $2::int[]) AS w (source, turn)
       CROSS JOIN LATERAL (SELECT * FROM @chunks c WHERE c.source = w.source AND c.turn = w.turn ORDER BY c.number LIMIT $3) c`,
      [turns.map(([source]) => source), turns.map(([, turn]) => turn), limit],
    );
    return this.#toChunks(this.#db, rows);
  }

  async #refresh(): Promise<void> {
    const [row] = await this.#db.query("SELECT stamp FROM @index_state");
    const stamp = row?.stamp as number;
    this.#dictionary.refresh(stamp);
    if (stamp !== this.#stamp) this.#cache.clear();
    this.#stamp = stamp;
  }

  async #toChunks(sql: Sql, rows: readonly SqlRow[]): Promise<StoredChunk[]> {
    const numbers = rows.map((row) => readBodyTerms(row.body as Uint8Array));
    const all = new Set<number>();
    for (const list of numbers) for (const number of list) all.add(number);
    const termOf = await this.#dictionary.termsOf(sql, all);
    return rows.map((row, index) =>
      toChunk(
        row,
        [...(numbers[index] ?? [])].map((number) => termOf(number) ?? ""),
      ),
    );
  }
}

function toChunk(row: SqlRow, terms: readonly string[]): StoredChunk {
  return {
    number: row.number as number,
    source: row.source as number,
    turn: row.turn as number,
    seq: row.seq as number,
    part: row.part as number,
    from: row.start as number,
    to: row.stop as number,
    at: row.at as number,
    author: CHUNK_AUTHORS[row.author as number] ?? "none",
    speaker: row.speaker as string | null,
    traits: row.traits as number,
    turnLength: row.turn_length as number,
    hash: readBodyHash(row.body as Uint8Array),
    terms,
  };
}

/** Within a transaction that has locked the index: inserts chunks of a source, numbered from `first`. */
async function insertChunks(
  transaction: Transaction,
  first: number,
  source: number,
  chunks: readonly NewChunk[],
  bodies: readonly Uint8Array[],
): Promise<void> {
  if (chunks.length === 0) return;
  const [starts, sizes, bytes] = packBytes(bodies);
  await transaction.query(
    `INSERT INTO @chunks (number, source, turn, seq, part, start, stop, at, author, speaker, traits, turn_length, body)
     SELECT $1::bigint + place - 1, $2::bigint, turn, seq, part, start, stop, at, author, speaker, traits, turn_length,
       substr($15::bytea, body_start, body_size)
     FROM unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::smallint[], $10::text[],
         $11::int[], $12::int[], $13::int[], $14::int[]) WITH ORDINALITY
       AS c (turn, seq, part, start, stop, at, author, speaker, traits, turn_length, body_start, body_size, place)`,
    [
      first,
      source,
      chunks.map((chunk) => chunk.turn),
      chunks.map((chunk) => chunk.seq),
      chunks.map((chunk) => chunk.part),
      chunks.map((chunk) => chunk.from),
      chunks.map((chunk) => chunk.to),
      chunks.map((chunk) => chunk.at),
      chunks.map((chunk) => CHUNK_AUTHORS.indexOf(chunk.author)),
      chunks.map((chunk) => chunk.speaker ?? null),
      chunks.map((chunk) => chunk.traits),
      chunks.map((chunk) => chunk.turnLength),
      starts,
      sizes,
      bytes,
    ],
  );
}
