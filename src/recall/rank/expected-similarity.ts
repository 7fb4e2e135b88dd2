/** Number of turns, closest in word score, whose mean similarity is expected of a turn without a vector. */
const COMPARED = 10;

/**
 * Fills in the similarity of turns without a vector, so that an incomplete index ranks them like others with the same
 * words, not after them. Fewer known similarities say less, so missing ones count as 0. `similarities` holds NaN for
 * turns without a vector; if no turn has one, all become 0.
 */
export function fillMissingSimilarities(similarities: Float64Array, wordScores: Float64Array): void {
  const known: number[] = [];
  const missing: number[] = [];
  for (const [index, similarity] of similarities.entries())
    (Number.isNaN(similarity) ? missing : known).push(index);
  for (const index of missing) {
    const score = wordScores[index] as number;
    const distanceOf = (other: number) => Math.abs((wordScores[other] as number) - score);
    const closest = [...known]
      .sort((left, right) => distanceOf(left) - distanceOf(right) || left - right)
      .slice(0, COMPARED);
    const sum = closest.reduce((total, other) => total + (similarities[other] as number), 0);
    similarities[index] = sum / COMPARED;
  }
}
