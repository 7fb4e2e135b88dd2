/**
 * A run of letters and digits; an underscore joins the parts of an identifier, an apostrophe those of a contraction.
 */
const WORD = /[\p{L}\p{N}\p{M}]+(?:[_'’][\p{L}\p{N}\p{M}]+)*/gu;

/** The words of a text, unchanged, with identifiers as a whole. */
export function words(text: string): string[] {
  return text.match(WORD) ?? [];
}

const CASE_EDGE =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|_+|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;
const MAY_BE_IDENTIFIER = /_|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u;

/** The parts of an identifier, split at underscores, changes of case and digits; empty for a plain word. */
export function identifierParts(word: string): string[] {
  if (!MAY_BE_IDENTIFIER.test(word)) return [];
  return word.split(CASE_EDGE).filter((part) => part !== "");
}
