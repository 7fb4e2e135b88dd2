import { randomBytes } from "node:crypto";
import { computeDigest } from "../../model/base/digest.ts";
import { foldText } from "../text/fold-text.ts";

/** Identifies the value of a memory that must not be saved again; the value cannot be read from it. */
export interface ValueKey {
  /** Random text, so that equal values of different stores have different digests. */
  readonly salt: string;
  readonly digest: string;
}

/** Signs at the ends of words that do not change the value; those of names such as "C++" or "-5" do. */
const OUTER_SIGNS =
  /^[\s"'`*_()[\]«»“”‘’„「」『』（）]+|[\s"'`*_()[\]«»“”‘’„「」『』（）.,;:!?…。，、；：！？]+$/gu;
const BULLET = /^\s*[-*•]\s+/u;

/** One spelling for equal values: case, accents, spaces and punctuation around words do not count. */
export function normalizeValue(text: string): string {
  const folded = foldText(text.replace(BULLET, "")).trim();
  const words = folded.split(/\s+/u).map((word) => word.replace(OUTER_SIGNS, ""));
  return words.filter((word) => word !== "").join(" ") || folded;
}

/** The key of a value. */
export function computeValueKey(text: string, salt: string): ValueKey {
  return { salt, digest: computeDigest(`${salt}\n${normalizeValue(text)}`) };
}

const SENTENCE_END = /(?<=[.!?…]["')\]]?)\s+|(?<=[。！？；])\s*|\n+/u;
/** Shorter sentences are too common to stand for a value. */
const MIN_SENTENCE_WORDS = 4;
/** Longest run of sentences that is compared with refused values. */
const MAX_RUN = 12;
const MAX_SENTENCES = 200;

function splitIntoSentences(text: string): readonly string[] {
  return text
    .split(SENTENCE_END)
    .filter((sentence) => sentence.trim() !== "")
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
