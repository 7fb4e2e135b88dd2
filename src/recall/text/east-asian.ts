/** Scripts without spaces between words. */
export const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆]/u;
const RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆]+/gu;

/**
 * Every character and every pair of neighbors, so that words of one or two characters are found without a dictionary.
 */
export function splitEastAsian(run: string): string[] {
  const tokens: string[] = [];
  let before = "";
  for (const character of run) {
    if (before !== "") tokens.push(before, before + character);
    before = character;
  }
  if (before !== "") tokens.push(before);
  return tokens;
}

/** Splits a word where its script changes between East Asian and any other; each piece is marked. */
export function splitByScript(word: string): { text: string; isEastAsian: boolean }[] {
  const pieces: { text: string; isEastAsian: boolean }[] = [];
  let from = 0;
  for (const run of word.matchAll(RUNS)) {
    if (run.index > from) pieces.push({ text: word.slice(from, run.index), isEastAsian: false });
    pieces.push({ text: run[0], isEastAsian: true });
    from = run.index + run[0].length;
  }
  if (from < word.length) pieces.push({ text: word.slice(from), isEastAsian: false });
  return pieces;
}
