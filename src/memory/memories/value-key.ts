import { randomBytes } from "node:crypto";
import { computeDigest } from "../../base/digest.ts";
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

/** Creates a salt for the keys of one agent's values. */
export function createSalt(): string {
  return randomBytes(16).toString("hex");
}
