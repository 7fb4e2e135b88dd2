import type { SummarySections } from "../contract/summary-sections.ts";
import { splitSentences } from "../extractive/split-sentences.ts";
import type { UserRequest } from "../extractive/user-request.ts";
import { normalizeWords } from "./normalize-words.ts";

/** Number of characters of a request that are checked word by word. */
const QUOTE_LENGTH = 240;
const MIN_SHARE = 0.5;
const SENTENCE_LENGTH = 120;

/** The quoted part of a pending request, cut to its maximum length. */
function clipAsk(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= QUOTE_LENGTH ? line : `${line.slice(0, QUOTE_LENGTH).toWellFormed()} …`;
}

/** The requests that an earlier summary quoted, without quotation marks. */
export function listEarlierAsks(sections: SummarySections): readonly string[] {
  return sections.asks.map(({ text }) => text.replace(/^["“「](.*)["”」]$/s, "$1"));
}

/** The pending requests that a summary does not quote. */
export function findUnquotedAsks(
  asks: readonly Pick<UserRequest, "text">[],
  summary: string,
): readonly string[] {
  const words = normalizeWords(summary);
  return asks.filter(({ text }) => !isQuoted(text, words)).map(({ text }) => clipAsk(text));
}

/** A request counts as quoted if the summary contains at least half of its beginning, sentence by sentence. */
function isQuoted(ask: string, words: string): boolean {
  const pieces = splitSentences(ask.slice(0, QUOTE_LENGTH))
    .flatMap((sentence) => sentence.split(" … "))
    .map((piece) => normalizeWords(piece.slice(0, SENTENCE_LENGTH)))
    .filter((piece) => piece.length > 1);
  const all = pieces.reduce((sum, { length }) => sum + length, 0);
  const found = pieces.reduce((sum, piece) => sum + (hasMostOf(words, piece) ? piece.length : 0), 0);
  return all === 0 || found >= all * MIN_SHARE;
}

/** The last word of a cut piece may be incomplete. */
function hasMostOf(words: string, piece: string): boolean {
  return words.includes(piece) || (piece.length >= 60 && words.includes(piece.slice(0, -12)));
}
