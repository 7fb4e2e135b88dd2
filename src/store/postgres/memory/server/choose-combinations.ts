import type { ServedTerm } from "../../../index-server.ts";

/** The facts of a term that decide. */
type CountedTerm = Pick<ServedTerm, "term" | "frequency" | "rarity">;

/** Terms that must occur together. */
type Combination = readonly CountedTerm[];

/** Terms that are combined; those after them are too common to find anything by. */
const MAX_COMBINED = 8;
const MAX_TOGETHER = 3;
/** Terms of one subject occur together more often than by chance. */
const AFFINITY = 4;

/**
 * Chooses the combinations of terms by which candidates are looked up: rare terms singly, common ones only together, in
 * the order of the score that a chunk can reach with them, as long as the expected number of chunks stays within
 * `maxChunks`. A chunk that lacks all chosen combinations could only have a low score.
 */
export function chooseCombinations(
  terms: readonly CountedTerm[],
  total: number,
  maxChunks: number,
): readonly Combination[] {
  const known = terms
    .filter(({ frequency }) => frequency > 0)
    .sort((left, right) => right.rarity - left.rarity)
    .slice(0, MAX_COMBINED);
  const ordered = listCombinations(known).sort((left, right) => sumRarity(right) - sumRarity(left));
  const chosen: Combination[] = [];
  let expected = 0;
  for (const combination of ordered) {
    // Chunks that an earlier choice finds, because it contains all of these terms, cost nothing more.
    const found = chosen
      .filter((other) => isPart(combination, other))
      .reduce((sum, other) => sum + expectChunks(other, total), 0);
    const chunks = Math.max(0, expectChunks(combination, total) - found);
    if (expected + chunks > maxChunks) continue;
    chosen.push(combination);
    expected += chunks;
  }
  const first = known[0];
  // If a question has only common terms, the rarest of them are looked up anyway; the limit of rows stops the server.
  if (chosen.length === 0 && first) chosen.push(known.slice(0, MAX_TOGETHER));
  return chosen.filter((one) => !chosen.some((other) => other !== one && isPart(other, one)));
}

function listCombinations(terms: readonly CountedTerm[]): Combination[] {
  let last: Combination[] = [[]];
  const all: Combination[] = [];
  for (let size = 1; size <= MAX_TOGETHER; size++) {
    last = last.flatMap((part) =>
      terms
        .slice(part.length === 0 ? 0 : terms.indexOf(part.at(-1) as CountedTerm) + 1)
        .map((term) => [...part, term]),
    );
    all.push(...last);
  }
  return all;
}

function sumRarity(combination: Combination): number {
  return combination.reduce((sum, { rarity }) => sum + rarity, 0);
}

function expectChunks(combination: Combination, total: number): number {
  const [rarest, ...others] = combination
    .map(({ frequency }) => frequency)
    .sort((left, right) => left - right);
  return others.reduce(
    (count, frequency) => count * Math.min(1, (AFFINITY * frequency) / Math.max(1, total)),
    rarest ?? 0,
  );
}

/** True if whatever contains `whole` also contains `part`. */
function isPart(part: Combination, whole: Combination): boolean {
  return part.length < whole.length && part.every((term) => whole.includes(term));
}
