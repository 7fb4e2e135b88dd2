const NOT_ASCII = /[^\p{ASCII}]/u;
const LATIN_MARKS = /[\u0300-\u036f]/g;

/** One spelling for equivalent text: compatibility forms unified, case and Latin accents removed. */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(LATIN_MARKS, "").normalize("NFKC").toLowerCase();
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

const SENTENCE_END = /(?<=[.!?…]["')\]]?)\s+|(?<=[。！？；])\s*|\n+/u;

/** The sentences of a text in order, and the white space between them: every second piece is a separator. */
export function splitAtSentences(text: string): readonly string[] {
  return text.split(new RegExp(`(${SENTENCE_END.source})`, "u"));
}

/** Shorter sentences are too common to stand for a value. */
export const MIN_SENTENCE_WORDS = 4;
