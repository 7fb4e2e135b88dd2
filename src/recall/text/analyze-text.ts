import { BoundedMap } from "../../model/base/bounded-map.ts";
import { copyString } from "../../model/base/copy-string.ts";
import { EAST_ASIAN, splitByScript, splitEastAsian } from "./east-asian.ts";
import { foldText } from "./fold-text.ts";
import { splitIdentifier, splitWords } from "./split-words.ts";
import { stemWord } from "./stem-word.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Words whose terms are cached, about 150 bytes each. */
const MAX_CACHED_WORDS = 10_000;
/** Longer runs of letters and digits are digests, keys or encoded bytes; their beginning is used as one term. */
const MAX_WORD_LENGTH = 64;
const NONE: readonly string[] = [];
const cache = new BoundedMap<string, readonly string[]>({ max: MAX_CACHED_WORDS });

/** The terms of a text in order, as stored and searched: folded, stemmed, without stop words. */
export function analyzeText(text: string): string[] {
  const terms: string[] = [];
  for (const word of splitWords(text)) {
    for (const term of analyzeWord(word)) terms.push(term);
  }
  return terms;
}

/** The terms of one word: none for a stop word; an identifier yields itself and its parts. */
export function analyzeWord(word: string): readonly string[] {
  const known = cache.get(word);
  if (known !== undefined) return known;
  // Longer words hardly ever come again.
  if (word.length > MAX_WORD_LENGTH) return analyzeWordUncached(word);
  const own = copyString(word);
  const terms = analyzeWordUncached(own);
  cache.set(own, terms);
  return terms;
}

/** Matches most words: nothing to fold, nothing to split. */
const PLAIN = /^[a-z]{1,64}$/;

/** Matches most other words: nothing to fold, but perhaps something to split. */
const BARE_ASCII = /^[A-Za-z0-9_]{1,64}$/;

/** Like `analyzeWord`, but without the cache, for whole vocabularies. */
export function analyzeWordUncached(word: string): readonly string[] {
  if (PLAIN.test(word)) return STOP_WORDS.has(word) ? NONE : [stemWord(word)];
  if (BARE_ASCII.test(word)) return termsOfAscii(word);
  if (EAST_ASIAN.test(word)) {
    return splitByScript(word).flatMap(({ text, isEastAsian }) =>
      isEastAsian ? splitEastAsian(foldBare(text)) : analyzeWordUncached(text),
    );
  }
  if (word.length > MAX_WORD_LENGTH) {
    const beginning = foldBare(copyString(word.slice(0, MAX_WORD_LENGTH)));
    return beginning === "" ? NONE : [beginning];
  }
  const plain = foldBare(word);
  if (plain === "") return NONE;
  const bare = plain.replace(/'(s|d|ll|m|re|ve|t)?$/, "");
  if (STOP_WORDS.has(bare.replaceAll("'", "")) || STOP_WORDS.has(plain.replaceAll("'", ""))) return NONE;
  const parts = splitIdentifier(word).map(foldBare);
  if (parts.length < 2) return [stemWord(bare.replaceAll("'", ""))];
  const whole = bare.replace(/[_']/g, "");
  const kept = parts.filter((part) => part.length > 1 && !STOP_WORDS.has(part)).map(stemWord);
  return [...new Set([stemWord(whole), ...kept])];
}

/** The terms of words that need no folding and have no apostrophes. */
function termsOfAscii(word: string): readonly string[] {
  const plain = word.toLowerCase();
  if (STOP_WORDS.has(plain)) return NONE;
  const parts = splitIdentifier(word);
  if (parts.length < 2) return [stemWord(plain)];
  const terms = [stemWord(plain.includes("_") ? plain.replaceAll("_", "") : plain)];
  for (const part of parts) {
    if (part.length < 2) continue;
    const own = part.toLowerCase();
    if (STOP_WORDS.has(own)) continue;
    const term = stemWord(own);
    if (!terms.includes(term)) terms.push(term);
  }
  return terms;
}

const IS_ASCII = /^[A-Za-z0-9_']*$/;

/** Folds a word and removes the spaces and symbols that folding may introduce, which terms must not contain. */
function foldBare(word: string): string {
  if (IS_ASCII.test(word)) return word.toLowerCase();
  return foldText(word)
    .replaceAll("’", "'")
    .replace(/[^\p{L}\p{N}\p{M}_']/gu, "");
}
