import { readBodyTerms } from "../../../chunk-body.ts";
import type { ServedTerms } from "../../../index-server.ts";
import { SEGMENT_CHUNKS } from "../../../memory-store.ts";
import { LENGTH_SHARE, SATURATION } from "../../../postings.ts";
import type { PostgresDatabase, Transaction } from "../../connection/postgres-database.ts";
import { sqlStateOf } from "../../connection/postgres-error.ts";
import type { SqlRow } from "../../connection/sql-values.ts";
import { lockIndex } from "../index-state.ts";
import { findRankingExtension, type RankingExtension } from "./ranking-extension.ts";
import { buildSourceCondition } from "./source-condition.ts";
import { spellTerms } from "./spell-terms.ts";

/** Rows that are added in one step, during which others cannot add to the index. */
const ROWS_PER_STEP = 1_024;
/** How long the answer whether the extension is installed holds. */
const LOOK_AGAIN_MS = 60_000;

/** The statements that words need; a database, or another engine in tests. */
type RankingDatabase = Pick<PostgresDatabase, "query" | "transact" | "schema">;

/**
 * Words in pg_textsearch, whose index finds the best chunks by Okapi's score without looking at all that contain a
 * common word. Its tables exist only where the extension does, and are filled after the lexemes, which remain the way
 * without it.
 */
export class RankedWords {
  readonly #db: RankingDatabase;
  #extension: Promise<RankingExtension | undefined> | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: RankingDatabase) {
    this.#db = db;
  }

  /** Adds the next segment that has lexemes; false if there is none, or the extension is missing or fails. */
  async fillNext(): Promise<boolean> {
    const extension = await this.#findExtension();
    if (!extension || !(await this.#hasMore())) return false;
    try {
      if (!(await this.#hasTables())) await this.#createTables(extension);
      return await this.#fillSegment();
    } catch (error) {
      this.#giveUp(error);
      return false;
    }
  }

  async #fillSegment(): Promise<boolean> {
    const [state] = await this.#db.query(
      "SELECT i.stamp, i.served, r.segments FROM @index_state i CROSS JOIN @ranked_state r",
    );
    const [stamp, segments] = [Number(state?.stamp), Number(state?.segments)];
    if (segments >= Number(state?.served)) return false;
    const isStill = async (transaction: Transaction) => {
      const now = await lockIndex(transaction);
      if (now.stamp !== stamp) return false;
      const [row] = await transaction.query("SELECT segments FROM @ranked_state");
      return Number(row?.segments) === segments;
    };
    const end = (segments + 1) * SEGMENT_CHUNKS;
    for (let from = segments * SEGMENT_CHUNKS; from < end; from += ROWS_PER_STEP) {
      const rows = await this.#db.query(
        "SELECT number, source, body FROM @chunks WHERE number >= $1 AND number < $2 ORDER BY number",
        [from, Math.min(end, from + ROWS_PER_STEP)],
      );
      const isWritten = await this.#db.transact(async (transaction) => {
        if (!(await isStill(transaction))) return false;
        await transaction.query(
          `INSERT INTO @ranked_words (chunk, source, words)
           SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[]) ON CONFLICT (chunk) DO NOTHING`,
          [
            rows.map(({ number }) => Number(number)),
            rows.map(({ source }) => Number(source)),
            rows.map(({ body }) => spellTerms(readBodyTerms(body as Uint8Array))),
          ],
        );
        return true;
      });
      // Another process was faster, or something was forgotten: the next call looks again.
      if (!isWritten) return true;
    }
    await this.#db.transact(async (transaction) => {
      if (await isStill(transaction))
        await transaction.query("UPDATE @ranked_state SET segments = $1", [segments + 1]);
    });
    return true;
  }

  /**
   * The best chunks by the score of the extension, with their bodies; none where it is missing, fails, or does not have
   * all served segments yet.
   */
  async find({ terms, filter }: ServedTerms, limit: number): Promise<readonly SqlRow[]> {
    const extension = await this.#findExtension();
    const known = terms.filter(({ frequency }) => frequency > 0);
    if (!extension || known.length === 0) return [];
    const { schema } = extension;
    const condition = buildSourceCondition(filter, "source", 2);
    try {
      if (!(await this.#hasTables())) return [];
      return await this.#db.query(
        `SELECT c.number, c.body FROM (
           SELECT chunk FROM @ranked_words WHERE ${condition.sql}
           ORDER BY words OPERATOR("${schema}".<@>) "${schema}".to_bm25query($1, '@ranked_words_by_score') LIMIT ${limit}
         ) AS best JOIN @chunks c ON c.number = best.chunk
         WHERE (SELECT segments FROM @ranked_state) >= (SELECT served FROM @index_state)`,
        [spellTerms(known.map(({ number }) => number)), ...condition.values],
      );
    } catch (error) {
      this.#giveUp(error);
      return [];
    }
  }

  /** Within a transaction: removes chunks. */
  async erase(transaction: Transaction, chunks: readonly number[]): Promise<void> {
    const [row] = await transaction.query("SELECT to_regclass('@ranked_words') IS NOT NULL AS exists");
    if (row?.exists)
      await transaction.query("DELETE FROM @ranked_words WHERE chunk = ANY($1::bigint[])", [chunks]);
  }

  /** After an error of the server, such as one about a removed extension: does without it for a while. */
  #giveUp(error: unknown): void {
    if (sqlStateOf(error) === undefined && sqlStateOf((error as Error).cause) === undefined) throw error;
    this.#remember(undefined);
  }

  /** True if lexemes exist that the tables may not have. */
  async #hasMore(): Promise<boolean> {
    const [row] = await this.#db.query("SELECT served FROM @index_state");
    return Number(row?.served ?? 0) > 0;
  }

  /** False also after the extension was removed, which takes the index along. */
  async #hasTables(): Promise<boolean> {
    const [row] = await this.#db.query("SELECT to_regclass('@ranked_words_by_score') IS NOT NULL AS exists");
    return row?.exists === true;
  }

  /** Begins again where the index is missing: it is filled in steps, while building it would lock out others. */
  async #createTables({ schema }: RankingExtension): Promise<void> {
    await this.#db.transact(async (transaction) => {
      await lockIndex(transaction);
      const [row] = await transaction.query(
        "SELECT to_regclass('@ranked_words_by_score') IS NOT NULL AS exists",
      );
      if (row?.exists) return;
      await transaction.execute(
        `DROP TABLE IF EXISTS @ranked_words, @ranked_state;
         CREATE TABLE @ranked_words (chunk bigint PRIMARY KEY, source bigint NOT NULL, words text NOT NULL);
         CREATE INDEX ranked_words_by_source ON @ranked_words (source);
         CREATE INDEX ranked_words_by_score ON @ranked_words USING bm25 (words "${schema}".text_bm25_ops)
           WITH (text_config = 'pg_catalog.simple', k1 = ${SATURATION}, b = ${LENGTH_SHARE});
         CREATE TABLE @ranked_state (segments integer NOT NULL);
         INSERT INTO @ranked_state VALUES (0)`,
      );
    });
  }

  #findExtension(): Promise<RankingExtension | undefined> {
    const isOld = performance.now() - this.#lookedAtMs > LOOK_AGAIN_MS;
    if (this.#extension && !isOld) return this.#extension;
    const found = findRankingExtension(this.#db);
    this.#remember(found);
    found.catch(() => {
      this.#extension = undefined;
    });
    return found;
  }

  #remember(extension: Promise<RankingExtension | undefined> | undefined): void {
    this.#extension = extension ?? Promise.resolve(undefined);
    this.#lookedAtMs = performance.now();
  }
}
