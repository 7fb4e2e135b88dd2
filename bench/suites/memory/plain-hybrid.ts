import { DatabaseSync } from "node:sqlite";
import { load } from "sqlite-vec";
import { padDimensions, quantizeVector } from "../../../src/recall/vectors/quantize.ts";

/** The obvious baseline: sqlite-vec's scan and FTS5's bm25, merged by rank. */
export class PlainHybrid {
  readonly #db: DatabaseSync;
  readonly #nearest;
  readonly #matching;
  readonly #insertText;
  readonly #insertVector;

  constructor(path: string, dimensions: number) {
    this.#db = new DatabaseSync(path, { allowExtension: true });
    load(this.#db);
    this.#db.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE VIRTUAL TABLE vectors USING vec0 (vector int8[${padDimensions(dimensions)}] distance_metric=cosine);
      CREATE VIRTUAL TABLE texts USING fts5 (text, content='', contentless_delete=1, tokenize='porter unicode61');
    `);
    this.#insertText = this.#db.prepare("INSERT INTO texts (rowid, text) VALUES (?, ?)");
    this.#insertVector = this.#db.prepare("INSERT INTO vectors (rowid, vector) VALUES (?, vec_int8(?))");
    this.#nearest = this.#db.prepare("SELECT rowid FROM vectors WHERE vector MATCH vec_int8(?) AND k = ?");
    this.#matching = this.#db.prepare("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?");
  }

  add(items: readonly { readonly id: number; readonly text?: string; readonly vector: Int8Array }[]): void {
    this.#db.exec("BEGIN");
    for (const { id, text, vector } of items) {
      if (text !== undefined) this.#insertText.run(BigInt(id), text);
      this.#insertVector.run(BigInt(id), new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
    }
    this.#db.exec("COMMIT");
  }

  nearest(vector: ArrayLike<number>, limit: number): number[] {
    const bytes = new Uint8Array(quantizeVector(vector).buffer);
    return this.#nearest.all(bytes, BigInt(limit)).map((row) => row.rowid as number);
  }

  search(question: string, vector: ArrayLike<number>, limit: number): number[] {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    const matching = this.#matching.all(words.map((word) => `"${word}"`).join(" OR "), limit);
    const scores = new Map<number, number>();
    const lists = [matching.map((row) => row.rowid as number), this.nearest(vector, limit)];
    for (const list of lists) {
      for (const [place, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (60 + place));
    }
    return [...scores].sort((left, right) => right[1] - left[1]).map(([id]) => id);
  }

  close(): void {
    this.#db.close();
  }
}
