import { packBody, readBodyHash, readBodyTerms } from "../../../log/store/chunk-body.ts";
import {
  CHUNK_AUTHORS,
  type ChunkBatch,
  type StoredChunk,
  type TailChunk,
  type TurnRange,
} from "../../../log/store/memory-store.ts";
import { collectNear } from "../../../log/store/near-chunks.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import type { Database } from "../database.ts";
import { prepareValues, type ValueRow } from "../value-rows.ts";
import type { Dictionary } from "./dictionary.ts";
import type { Sources } from "./sources.ts";

const COLUMNS =
  "number, source, turn, seq, part, start, stop, at, author, speaker, traits, turn_length, body";

/** Chunks cached in memory, about 1 KB each: questions of one conversation find the same chunks repeatedly. */
const MAX_CACHED = 8_192;
const BYTES_PER_CHUNK = 1_000;
/** Fewer rows are read one by one; more would not stay in the cache. */
const MIN_READ_AHEAD = 4;
const MAX_READ_AHEAD = 4_096;

/** Chunks as rows. */
export class ChunkRows {
  readonly #db: Database;
  readonly #sources: Sources;
  readonly #dictionary: Dictionary;
  readonly #statements;
  readonly #cache = new BoundedMap<number, StoredChunk>({ max: MAX_CACHED });
  #stamp = -1;

  constructor(db: Database, sources: Sources, dictionary: Dictionary) {
    this.#db = db;
    this.#sources = sources;
    this.#dictionary = dictionary;
    this.#statements = {
      insert: db.prepare(
        `INSERT INTO chunks (source, turn, seq, part, start, stop, at, author, speaker, traits, turn_length, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      one: prepareValues(db, `SELECT ${COLUMNS} FROM chunks WHERE number = ?`),
      // In a cross join, SQLite keeps the order: a search by key for each wanted number.
      many: prepareValues(
        db,
        `SELECT ${COLUMNS} FROM json_each(?) AS wanted CROSS JOIN chunks ON chunks.number = wanted.value`,
      ),
      ofTurns: prepareValues(
        db,
        `WITH RECURSIVE wanted (place, last) AS (VALUES (?, ?) UNION ALL SELECT place + 1, last FROM wanted WHERE place < last)
         SELECT number FROM wanted CROSS JOIN chunks ON number IN
           (SELECT number FROM chunks WHERE source = ? AND turn = place ORDER BY number LIMIT ?)
         WHERE place <= last AND (? = 0 OR traits & ? <> 0 OR author = 1)`,
      ),
      terms: prepareValues(
        db,
        "SELECT number, source, body FROM chunks WHERE number >= ? ORDER BY number LIMIT ?",
      ),
      // The condition is that of the index.
      standing: db.prepare(
        "SELECT number FROM chunks WHERE author = 1 AND traits & 384 <> 0 ORDER BY number DESC LIMIT ?",
      ),
      inPeriod: db.prepare("SELECT number FROM chunks WHERE at BETWEEN ? AND ? LIMIT ?"),
      decisions: db.prepare(
        "SELECT number FROM chunks WHERE traits & 262144 <> 0 ORDER BY at DESC, number DESC LIMIT ? OFFSET ?",
      ),
      last: db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"),
    };
  }

  /** Approximate bytes of the cache. */
  get cachedBytes(): number {
    return this.#cache.size * BYTES_PER_CHUNK;
  }

  dropCache(): void {
    this.#cache.clear();
  }

  async add({ source, expected, stamp, chunks }: ChunkBatch): Promise<boolean> {
    try {
      return await this.#db.transact(() => {
        const known = this.#sources.find(source);
        if (known?.cursor !== expected || (known && known.version !== source.version)) return false;
        if (this.#dictionary.refresh() !== stamp) return false;
        const number = this.#sources.put(source);
        let terms = 0;
        let lastTurn = 0;
        for (const chunk of chunks) {
          const numbers = chunk.terms.map((term) => this.#dictionary.require(term));
          this.#statements.insert.run(
            number,
            chunk.turn,
            chunk.seq,
            chunk.part,
            chunk.from,
            chunk.to,
            chunk.at,
            CHUNK_AUTHORS.indexOf(chunk.author),
            chunk.speaker ?? null,
            chunk.traits,
            chunk.turnLength,
            packBody(chunk.hash, numbers),
          );
          if (chunk.speaker !== undefined) this.#sources.addSpeaker(number, chunk.speaker);
          terms += numbers.length;
          lastTurn = Math.max(lastTurn, chunk.turn);
        }
        this.#sources.count(number, { lastTurn, chunks: chunks.length, terms });
        return true;
      });
    } catch (error) {
      this.#dictionary.clear();
      throw error;
    }
  }

  /** Number of the last added chunk. */
  last(): number {
    return (this.#statements.last.get()?.seq as number | undefined) ?? 0;
  }

  get(numbers: readonly number[]): Promise<StoredChunk[]> {
    return this.#db.snapshot(() => {
      this.#refresh();
      this.#readAhead(numbers);
      return numbers.flatMap((number) => this.#one(number) ?? []);
    });
  }

  around(
    wanted: readonly { readonly number: number; readonly reach: number }[],
    limit: number,
  ): Promise<StoredChunk[]> {
    return this.#db.snapshot(() => {
      this.#refresh();
      const near: number[] = [];
      for (const { number } of wanted)
        for (let at = number - limit; at <= number + limit; at++) near.push(at);
      this.#readAhead(near);
      const found = new Map<number, StoredChunk>();
      const read = {
        chunk: (number: number) => this.#one(number),
        turn: (source: number, turn: number) => this.#collectTurn(source, turn, limit, found),
      };
      for (const { number, reach } of wanted) collectNear(read, number, reach, limit, found);
      return [...found.values()];
    });
  }

  turns(ranges: readonly TurnRange[], limit: number): Promise<StoredChunk[]> {
    return this.#db.snapshot(() => {
      this.#refresh();
      const numbers = ranges.flatMap((range) => this.#listNumbers(range, limit));
      this.#readAhead(numbers);
      return [...new Set(numbers)].flatMap((number) => this.#one(number) ?? []);
    });
  }

  #collectTurn(source: number, turn: number, limit: number, found: Map<number, StoredChunk>): void {
    for (const number of this.#listNumbers({ source, from: turn, to: turn }, limit)) {
      const chunk = this.#one(number);
      if (chunk) found.set(number, chunk);
    }
  }

  #listNumbers({ source, from, to, marks = 0 }: TurnRange, limit: number): number[] {
    const rows = this.#statements.ofTurns.all(from, to, source, limit, marks, marks);
    return rows.map(([number]) => number as number);
  }

  /** Reads the chunks that are not cached into the cache, by one statement for rows and one for terms. */
  #readAhead(numbers: Iterable<number>): void {
    const missing = [...new Set(numbers)].filter((number) => number > 0 && !this.#cache.has(number));
    if (missing.length < MIN_READ_AHEAD || missing.length > MAX_READ_AHEAD) return;
    const rows = this.#statements.many.all(JSON.stringify(missing));
    const terms = rows.map((row) => readBodyTerms(row.at(-1) as Uint8Array));
    this.#dictionary.readAhead(terms);
    for (const [index, row] of rows.entries()) {
      const chunk = this.#toChunk(row, terms[index]);
      this.#cache.set(chunk.number, chunk);
    }
  }

  #one(number: number): StoredChunk | undefined {
    const held = this.#cache.use(number);
    if (held) return held;
    const row = this.#statements.one.get(number);
    if (!row) return undefined;
    const chunk = this.#toChunk(row);
    this.#cache.set(number, chunk);
    return chunk;
  }

  #refresh(): void {
    const stamp = this.#dictionary.refresh();
    if (stamp !== this.#stamp) this.#cache.clear();
    this.#stamp = stamp;
  }

  /** Within a read: the newest chunks in which a user states a rule or a preference. */
  standing(limit: number): number[] {
    return this.#statements.standing.all(limit).map((row) => row.number as number);
  }

  /** Within a read: chunks by time. */
  inPeriod(fromMs: number, toMs: number, limit: number): number[] {
    return this.#statements.inPeriod.all(fromMs, toMs, limit).map((row) => row.number as number);
  }

  /** Within a read: chunks with a decision, newest first. */
  decisions(limit: number, skipped: number): number[] {
    return this.#statements.decisions.all(limit, skipped).map((row) => row.number as number);
  }

  /** Within a read: the terms of chunks, starting at a number. */
  termsFrom(from: number, limit: number): TailChunk[] {
    return this.#statements.terms.all(from, limit).map(([number, source, body]) => ({
      number: number as number,
      source: source as number,
      terms: readBodyTerms(body as Uint8Array),
    }));
  }

  #toChunk(row: ValueRow, termNumbers = readBodyTerms(row.at(-1) as Uint8Array)): StoredChunk {
    // In the order of COLUMNS.
    const [number, source, turn, seq, part, from, to, at, author, speaker, traits, turnLength, body] = row;
    const terms: string[] = [];
    for (const term of termNumbers) terms.push(this.#dictionary.termOf(term) ?? "");
    return {
      number: number as number,
      source: source as number,
      turn: turn as number,
      seq: seq as number,
      part: part as number,
      from: from as number,
      to: to as number,
      at: at as number,
      author: CHUNK_AUTHORS[author as number] ?? "none",
      speaker: speaker as string | null,
      traits: traits as number,
      turnLength: turnLength as number,
      hash: readBodyHash(body as Uint8Array),
      terms,
    };
  }
}
