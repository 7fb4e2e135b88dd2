import { readBodyTerms } from "../../../chunk-body.ts";
import type { ScoredRow, ServedTerm, ServedTerms } from "../../../index-server.ts";
import { computeWorth, encodeWeight } from "../../../postings.ts";
import type { PostgresDatabase } from "../../connection/postgres-database.ts";
import type { SqlRow } from "../../connection/sql-values.ts";
import { chooseCombinations } from "./choose-combinations.ts";
import { buildLexemeQuery, LABEL_WORTH, quoteLexeme } from "./lexemes.ts";
import type { RankedWords } from "./ranked-words.ts";
import { buildSourceCondition } from "./source-condition.ts";

/** Chunks that a question is expected to look at, and those after which the server stops. */
const EXPECTED_CHUNKS = 6_000;
const MAX_CHUNKS = 24_000;
/** The server's scores are rounded: so many times the wanted number are scored again, exactly. */
const RESCORED = 5;
/** Terms that count for the server's score, rarest first. */
const MAX_SCORED_TERMS = 16;

/** Finds chunks by their words: by pg_textsearch where it is ready, else by combinations of lexemes. */
export class WordSearch {
  readonly #db: PostgresDatabase;
  readonly #ranked: RankedWords | undefined;
  readonly #expectedChunks: number;

  constructor(db: PostgresDatabase, ranked?: RankedWords, expectedChunks = EXPECTED_CHUNKS) {
    this.#db = db;
    this.#ranked = ranked;
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
    const ranked = (await this.#ranked?.find(query, count)) ?? [];
    const rows = ranked.length > 0 ? ranked : await this.#findLexemes(query, count);
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
