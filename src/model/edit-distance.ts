import { checkKind } from "./argument-checks.ts";
import { createArgumentError, LonghaulError } from "./errors.ts";

/** The words closest to a misspelled one, best first. */
export function findNearestWords(word: string, words: Iterable<string>, count = 1): readonly string[] {
  checkKind("word", word, "text");
  if (typeof words?.[Symbol.iterator] !== "function")
    throw createArgumentError("words", words, "an iterable of texts");
  const most = Math.max(2, Math.floor(word.length / 3));
  const found: { readonly word: string; readonly distance: number }[] = [];
  for (const candidate of words) {
    checkKind("words", candidate, "text");
    if (Math.abs(candidate.length - word.length) > most) continue;
    const distance = computeEditDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance > most || distance >= candidate.length) continue;
    found.push({ word: candidate, distance });
    found.sort((a, b) => a.distance - b.distance);
    if (found.length > count) found.pop();
  }
  return found.map((one) => one.word);
}

/** Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of adjacent letters. */
export function computeEditDistance(a: string, b: string): number {
  checkKind("a", a, "text");
  checkKind("b", b, "text");
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] as number) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] as number;
}

/** Returns `value` if it has no fields but these, else throws ARGUMENT_INVALID naming the field and the nearest one. */
export function checkNames<T extends object>(option: string, value: T, names: readonly string[]): T {
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue;
    const [nearest = names.join(", ")] = findNearestWords(name, names);
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      `${option}.${name} is not an option; did you mean ${nearest}?`,
      { details: { option: `${option}.${name}`, known: names.join(", ") } },
    );
  }
  return value;
}
