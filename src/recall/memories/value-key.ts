import { randomBytes } from "node:crypto";
import { computeDigest } from "../../model/base/digest.ts";
import { MIN_SENTENCE_WORDS, normalizeValue, splitAtSentences } from "../../model/sentences.ts";

/** Identifies the value of a memory that must not be saved again; the value cannot be read from it. */
export interface ValueKey {
  /** Random text, so that equal values of different stores have different digests. */
  readonly salt: string;
  readonly digest: string;
}

/** The key of a value. */
export function computeValueKey(text: string, salt: string): ValueKey {
  return { salt, digest: computeDigest(`${salt}\n${normalizeValue(text)}`) };
}

/** Longest run of sentences that is compared with refused values. */
const MAX_RUN = 12;
const MAX_SENTENCES = 200;

function splitIntoSentences(text: string): readonly string[] {
  return splitAtSentences(text)
    .filter((piece, index) => index % 2 === 0 && piece.trim() !== "")
    .slice(0, MAX_SENTENCES);
}

/** The keys of the longer sentences of a value with more than one. */
export function computeSentenceKeys(text: string, salt: string): readonly ValueKey[] {
  const sentences = splitIntoSentences(text);
  if (sentences.length < 2) return [];
  return sentences
    .filter((sentence) => normalizeValue(sentence).split(" ").length >= MIN_SENTENCE_WORDS)
    .map((sentence) => computeValueKey(sentence, salt));
}

/** The keys of a text and of all runs of its sentences: a refused value may stand between other sentences. */
export function computeContainedKeys(text: string, salt: string): readonly ValueKey[] {
  const sentences = splitIntoSentences(text);
  const keys = [computeValueKey(text, salt)];
  for (let from = 0; from < sentences.length; from++)
    for (let to = from + 1; to <= Math.min(sentences.length, from + MAX_RUN); to++)
      keys.push(computeValueKey(sentences.slice(from, to).join(" "), salt));
  return keys;
}

/** Creates a salt for the keys of one agent's values. */
export function createSalt(): string {
  return randomBytes(16).toString("hex");
}
