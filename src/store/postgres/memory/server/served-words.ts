import { SEGMENT_CHUNKS } from "../../../memory-store.ts";
import type { PostgresDatabase, Transaction } from "../../connection/postgres-database.ts";
import type { IndexChunks } from "../index-chunks.ts";
import { lockIndex, readIndexState } from "../index-state.ts";
import { buildLexemes } from "./lexemes.ts";

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
