import { DatabaseSync } from "node:sqlite";
import { type HistoryEntry, toDocument } from "./history-entries.ts";
import { normalizeText } from "./history-question.ts";
import type { HistoryHit } from "./judge-hits.ts";

const STOP_WORDS = new Set(
  "a an the and or of to in on for with from by at is are be as it this that not no use using".split(" "),
);

/** The baseline: SQLite's FTS5 with Porter stemming and its BM25, one document per message, any of the words. */
export class FullTextBaseline {
  readonly #db = new DatabaseSync(":memory:");
  readonly #insert;
  readonly #select;

  constructor() {
    this.#db.exec(
      "CREATE VIRTUAL TABLE texts USING fts5(text, session UNINDEXED, at UNINDEXED, tokenize='porter unicode61')",
    );
    this.#insert = this.#db.prepare("INSERT INTO texts VALUES (?, ?, ?)");
    this.#select = this.#db.prepare(
      "SELECT text, session, at FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?",
    );
  }

  add(entry: HistoryEntry): void {
    const text = toDocument(entry);
    if (text.trim() !== "") this.#insert.run(text, entry.session, entry.atMs);
  }

  search(question: string, limit: number): HistoryHit[] {
    const words = normalizeText(question)
      .split(" ")
      .filter((word) => word.length > 1 && !STOP_WORDS.has(word));
    if (words.length === 0) return [];
    return this.#select
      .all(words.map((word) => `"${word}"`).join(" OR "), limit)
      .map(({ text, session, at }) => ({
        text: String(text),
        session: String(session),
        atMs: Number(at),
      }));
  }

  close(): void {
    this.#db.close();
  }
}
