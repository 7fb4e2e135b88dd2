import type { TokenSource } from "./static-tokenizer.ts";
import { findWord, readWord, type WordTable } from "./word-table.ts";

/** The words that have their own row, and the rows of pieces of unknown words. */
interface Vocabulary extends TokenSource {
  readonly words: number;
  /** The word of a token; undefined for a piece of an unknown word. */
  wordOf(token: number): string | undefined;
}

/** Creates the vocabulary of a table; `pieces` rows for pieces of unknown words follow those of the words. */
export function createVocabulary(table: WordTable, pieces: number): Vocabulary {
  const words = table.starts.length - 1;
  return {
    words,
    find: (units, start, end) => findWord(table, units, start, end),
    piece: (hash) => words + (hash % pieces),
    wordOf: (token) => readWord(table, token),
  };
}
