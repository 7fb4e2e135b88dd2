const LETTERS = 26;
const FIRST = "a".charCodeAt(0);

/**
 * A term as a word of letters, from its number in the dictionary: the parser of the server leaves such a word whole,
 * whatever the term holds, and the text of the conversation is not stored again.
 */
function spellTerm(number: number): string {
  let word = "";
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / LETTERS))
    word = String.fromCharCode(FIRST + ((rest - 1) % LETTERS)) + word;
  return word;
}

/** Terms in their order as a text of words. */
export function spellTerms(numbers: Iterable<number>): string {
  return Array.from(numbers, spellTerm).join(" ");
}
