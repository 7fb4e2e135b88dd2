import { readBodyTerms } from "../../../../log/store/chunk-body.ts";
import type { ScoredRow, ServedTerm, ServedTerms } from "../../../../log/store/index-server.ts";
import { SEGMENT_CHUNKS } from "../../../../log/store/memory-store.ts";
import { computeWorth, encodeWeight } from "../../../../log/store/postings.ts";
import type { PostgresDatabase, Transaction } from "../../connection/postgres-database.ts";
import type { SqlRow } from "../../connection/sql-values.ts";
import type { IndexChunks } from "../index-chunks.ts";
import { lockIndex, readIndexState } from "../index-state.ts";
import { buildSourceCondition } from "./source-condition.ts";

/** Chunks that a question is expected to look at, and those after which the server stops. */
const EXPECTED_CHUNKS = 6_000;
const MAX_CHUNKS = 24_000;
/** The server's scores are rounded: so many times the wanted number are scored again, exactly. */
const RESCORED = 5;
/** Terms that count for the server's score, rarest first. */
const MAX_SCORED_TERMS = 16;

/** Terms that are combined; those after them are too common to find anything by. */
const MAX_COMBINED = 8;
const MAX_TOGETHER = 3;
/** Terms of one subject occur together more often than by chance. */
const AFFINITY = 4;

/** Finds chunks by their words: by combinations of lexemes. */
export class WordSearch {
  readonly #db: PostgresDatabase;
  readonly #expectedChunks: number;

  constructor(db: PostgresDatabase, expectedChunks = EXPECTED_CHUNKS) {
    this.#db = db;
    this.#expectedChunks = expectedChunks;
  }

  /** The counts are those in the postings, which are exact. */
  async countChunks(terms: readonly string[], segments: number): Promise<ReadonlyMap<string, number>> {
    if (terms.length === 0 || segments === 0) return new Map();
    const rows = await this.#db.query(
      `SELECT t.term, sum(get_byte(p.chunks, 0) + 256 * get_byte(p.chunks, 1))::bigint AS chunks
       FROM @terms t JOIN @postings p ON p.term = t.number
       WHERE t.term = ANY($1::text[]) AND p.segment < $2 GROUP BY t.term`,
      [terms, segments],
    );
    return new Map(rows.map(({ term, chunks }) => [term as string, chunks as number]));
  }

  async find(query: ServedTerms): Promise<readonly ScoredRow[]> {
    const count = RESCORED * query.limit;
    const rows = await this.#findLexemes(query, count);
    return rows
      .map(({ number, body }) => ({
        chunk: Number(number),
        score: computeScore(readBodyTerms(body as Uint8Array), query.terms),
      }))
      .filter(({ score }) => score > 0)
      .sort((left, right) => right.score - left.score || left.chunk - right.chunk)
      .slice(0, query.limit);
  }

  async #findLexemes(query: ServedTerms, count: number): Promise<readonly SqlRow[]> {
    const { total, filter } = query;
    const terms = query.terms
      .filter(({ frequency }) => frequency > 0)
      .sort((left, right) => right.rarity - left.rarity)
      .slice(0, MAX_SCORED_TERMS);
    const share = await this.#shareOf(filter, total);
    if (terms.length === 0 || share === 0) return [];
    const combinations = chooseCombinations(terms, total, this.#expectedChunks / share);
    const scores = terms.map((_, index) => {
      const [lexeme, rarity] = [5 + 2 * index, 6 + 2 * index];
      return `$${rarity}::float8 * ts_rank($2::real[], words, $${lexeme}::tsquery)`;
    });
    const condition = buildSourceCondition(filter, "source", 5 + 2 * terms.length);
    return this.#db.query(
      `SELECT c.number, c.body FROM (
         SELECT chunk, ${scores.join(" + ")} AS score FROM (
           SELECT chunk, words FROM @chunk_words WHERE words @@ $1::tsquery AND ${condition.sql} LIMIT $3
         ) AS found ORDER BY score DESC, chunk LIMIT $4
       ) AS best JOIN @chunks c ON c.number = best.chunk`,
      [
        buildLexemeQuery(combinations),
        LABEL_WORTH,
        MAX_CHUNKS,
        count,
        ...terms.flatMap(({ term, rarity }) => [quoteLexeme(term), rarity]),
        ...condition.values,
      ],
    );
  }

  /** The share of all chunks that the selected sources have: in a small share, common terms can be looked up too. */
  async #shareOf(filter: ServedTerms["filter"], total: number): Promise<number> {
    if (!filter) return 1;
    const condition = buildSourceCondition(filter, "number", 1);
    const [row] = await this.#db.query(
      `SELECT coalesce(sum(chunks), 0)::bigint AS chunks FROM @sources WHERE ${condition.sql}`,
      condition.values,
    );
    return Math.min(1, Number(row?.chunks) / Math.max(1, total));
  }
}

/** The score that the index in memory gives to a chunk. */
function computeScore(chunk: Uint32Array, terms: readonly ServedTerm[]): number {
  const counts = new Map(terms.map(({ number }) => [number, 0]));
  for (const number of chunk) {
    const count = counts.get(number);
    if (count !== undefined) counts.set(number, count + 1);
  }
  return terms.reduce((sum, { number, rarity }) => {
    const count = counts.get(number) ?? 0;
    return count === 0 ? sum : sum + rarity * computeWorth(encodeWeight(count, chunk.length));
  }, 0);
}

const ROWS_PER_STEP = 1_024;

/** Fills the words of sealed segments, one after another. */
export class ServedWords {
  readonly #db: PostgresDatabase;
  readonly #chunks: IndexChunks;
  /** From this number of sealed segments on. */
  readonly #minSegments: number;

  constructor(db: PostgresDatabase, chunks: IndexChunks, minSegments: number) {
    this.#db = db;
    this.#chunks = chunks;
    this.#minSegments = minSegments;
  }

  /**
   * Fills the next segment; false if there is none. Every step checks that nothing was removed since the chunks were
   * read, so that words never outlive their chunks.
   */
  async fillNext(): Promise<boolean> {
    const { sealed, stamp, served = 0 } = await readIndexState(this.#db);
    if (sealed < this.#minSegments || served >= sealed) return false;
    const isStill = async (transaction: Transaction) => {
      const now = await lockIndex(transaction);
      return now.stamp === stamp && now.served === served;
    };
    const end = (served + 1) * SEGMENT_CHUNKS;
    for (let from = served * SEGMENT_CHUNKS; from < end; from += ROWS_PER_STEP) {
      const rows = await this.#chunks.wordsOf(from, Math.min(end, from + ROWS_PER_STEP));
      const isWritten = await this.#db.transact(async (transaction) => {
        if (!(await isStill(transaction))) return false;
        await transaction.query(
          `INSERT INTO @chunk_words (chunk, source, words)
           SELECT chunk, source, words::tsvector FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS c (chunk, source, words)
           ON CONFLICT (chunk) DO NOTHING`,
          [
            rows.map(({ number }) => number),
            rows.map(({ source }) => source),
            rows.map(({ terms }) => buildLexemes(terms)),
          ],
        );
        return true;
      });
      // Another process was faster, or something was forgotten: the next call looks again.
      if (!isWritten) return true;
    }
    await this.#db.transact(async (transaction) => {
      if (await isStill(transaction))
        await transaction.query("UPDATE @index_state SET served = $1", [served + 1]);
    });
    return true;
  }
}

/** The labels of lexemes from the smallest weight to the largest, their bounds, and their values. */
const LABELS = ["D", "C", "B", "A"] as const;
const BOUNDS = [0.7, 1.05, 1.45] as const;
const VALUES = [0.5, 0.87, 1.22, 1.8] as const;
/** The values in the order and the range of `ts_rank`. */
const LABEL_WORTH: readonly number[] = VALUES.map((value) => value / VALUES[3]);

/** The terms of a chunk as the text of a tsvector: each once, with a label for its count and the chunk's length. */
export function buildLexemes(terms: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const term of terms) if (term !== "") counts.set(term, (counts.get(term) ?? 0) + 1);
  return [...counts]
    .map(([term, count]) => `${quoteLexeme(term)}:1${labelOf(count, terms.length)}`)
    .join(" ");
}

/** A lexeme within a tsvector or a tsquery. */
function quoteLexeme(term: string): string {
  return `'${term.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** A query for chunks that contain all terms of one of the combinations. */
export function buildLexemeQuery(combinations: readonly (readonly { readonly term: string }[])[]): string {
  return combinations
    .map((terms) => `(${terms.map(({ term }) => quoteLexeme(term)).join(" & ")})`)
    .join(" | ");
}

function labelOf(occurrences: number, length: number): string {
  const worth = computeWorth(encodeWeight(occurrences, length));
  const level = BOUNDS.findIndex((bound) => worth < bound);
  return LABELS[level < 0 ? LABELS.length - 1 : level] as string;
}

/** The facts of a term that decide. */
type CountedTerm = Pick<ServedTerm, "term" | "frequency" | "rarity">;

/** Terms that must occur together. */
type Combination = readonly CountedTerm[];

/**
 * Chooses the combinations of terms by which candidates are looked up: rare terms singly, common ones only together, in
 * the order of the score that a chunk can reach with them, as long as the expected number of chunks stays within
 * `maxChunks`. A chunk that lacks all chosen combinations could only have a low score.
 */
export function chooseCombinations(
  terms: readonly CountedTerm[],
  total: number,
  maxChunks: number,
): readonly Combination[] {
  const known = terms
    .filter(({ frequency }) => frequency > 0)
    .sort((left, right) => right.rarity - left.rarity)
    .slice(0, MAX_COMBINED);
  const ordered = listCombinations(known).sort((left, right) => sumRarity(right) - sumRarity(left));
  const chosen: Combination[] = [];
  let expected = 0;
  for (const combination of ordered) {
    // Chunks that an earlier choice finds, because it contains all of these terms, cost nothing more.
    const found = chosen
      .filter((other) => isPart(combination, other))
      .reduce((sum, other) => sum + expectChunks(other, total), 0);
    const chunks = Math.max(0, expectChunks(combination, total) - found);
    if (expected + chunks > maxChunks) continue;
    chosen.push(combination);
    expected += chunks;
  }
  const first = known[0];
  // If a question has only common terms, the rarest of them are looked up anyway; the limit of rows stops the server.
  if (chosen.length === 0 && first) chosen.push(known.slice(0, MAX_TOGETHER));
  return chosen.filter((one) => !chosen.some((other) => other !== one && isPart(other, one)));
}

function listCombinations(terms: readonly CountedTerm[]): Combination[] {
  let last: Combination[] = [[]];
  const all: Combination[] = [];
  for (let size = 1; size <= MAX_TOGETHER; size++) {
    last = last.flatMap((part) =>
      terms
        .slice(part.length === 0 ? 0 : terms.indexOf(part.at(-1) as CountedTerm) + 1)
        .map((term) => [...part, term]),
    );
    all.push(...last);
  }
  return all;
}

function sumRarity(combination: Combination): number {
  return combination.reduce((sum, { rarity }) => sum + rarity, 0);
}

function expectChunks(combination: Combination, total: number): number {
  const [rarest, ...others] = combination
    .map(({ frequency }) => frequency)
    .sort((left, right) => left - right);
  return others.reduce(
    (count, frequency) => count * Math.min(1, (AFFINITY * frequency) / Math.max(1, total)),
    rarest ?? 0,
  );
}

/** True if whatever contains `whole` also contains `part`. */
function isPart(part: Combination, whole: Combination): boolean {
  return part.length < whole.length && part.every((term) => whole.includes(term));
}
