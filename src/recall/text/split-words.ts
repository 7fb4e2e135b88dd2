/** A letter, a digit or a mark on one. */
export const WORD_CHARACTER = /^[\p{L}\p{N}\p{M}]$/u;
/**
 * A run of letters and digits; an underscore joins the parts of an identifier, an apostrophe those of a contraction.
 */
const WORD = /[\p{L}\p{N}\p{M}]+(?:[_'’][\p{L}\p{N}\p{M}]+)*/gu;

/** The words of a text, unchanged, with identifiers as a whole. */
export function splitWords(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** The ranges of the words of a text; `to` is exclusive. */
export function findWords(text: string): { readonly from: number; readonly to: number }[] {
  return Array.from(text.matchAll(WORD), ({ index, 0: word }) => ({ from: index, to: index + word.length }));
}

const CASE_EDGE =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|_+|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;
const MAY_BE_IDENTIFIER = /_|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u;

const IS_ASCII = /^[A-Za-z0-9_']*$/;
const [OTHER, LOWER, UPPER, DIGIT, JOINT] = [0, 1, 2, 3, 4] as const;
const KINDS = new Uint8Array(128).fill(OTHER);
KINDS.fill(DIGIT, 0x30, 0x3a).fill(UPPER, 0x41, 0x5b).fill(LOWER, 0x61, 0x7b).fill(JOINT, 0x5f, 0x60);

/** Like `splitIdentifier`, but much faster; only for ASCII letters, digits, underscores and apostrophes. */
function asciiParts(word: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let before: number = JOINT;
  let isIdentifier = false;
  for (let at = 0; at < word.length; at++) {
    const kind = KINDS[word.charCodeAt(at)] as number;
    const isEdge =
      kind === JOINT || before === JOINT || (kind !== before && isCaseEdge(before, kind)) || isHump(word, at);
    if (isEdge) {
      if (at > from && before !== JOINT) parts.push(word.slice(from, at));
      if (at > 0) isIdentifier = true;
      from = at;
    }
    before = kind;
  }
  if (before !== JOINT && word.length > from) parts.push(word.slice(from));
  return isIdentifier ? parts : [];
}

/** True between two kinds of characters: before a capital, and between letters and digits. */
function isCaseEdge(before: number, kind: number): boolean {
  if (before === OTHER || kind === OTHER) return false;
  return kind === UPPER || before === DIGIT || kind === DIGIT;
}

/** True for the last of several capitals, which begins the next word: the H in XMLHttp. */
function isHump(word: string, at: number): boolean {
  if (at === 0 || at + 1 >= word.length) return false;
  const isUpper = KINDS[word.charCodeAt(at)] === UPPER && KINDS[word.charCodeAt(at - 1)] === UPPER;
  return isUpper && KINDS[word.charCodeAt(at + 1)] === LOWER;
}

/** The parts of an identifier, split at underscores, changes of case and digits; empty for a plain word. */
export function splitIdentifier(word: string): string[] {
  if (IS_ASCII.test(word)) return asciiParts(word);
  if (!MAY_BE_IDENTIFIER.test(word)) return [];
  return word.split(CASE_EDGE).filter((part) => part !== "");
}
