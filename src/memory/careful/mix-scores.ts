/** Spread of the reader's scores among the candidates of a question; see training/reader. */
const READER_SPREAD = 1.8;
/** Weight of the reader's score beside that of the first stage, both by their spread; see docs/internals/search.md. */
const READER_WEIGHT = 1;

/**
 * The order of candidates by both stages: indexes, best first. The first stage knows times, speakers and sessions, the
 * reader the words' meaning in their context, so neither replaces the other.
 */
export function orderByBothStages(first: readonly number[], read: readonly number[]): number[] {
  const weight = READER_WEIGHT / READER_SPREAD;
  const mean = average(first);
  const spread = Math.sqrt(average(first.map((score) => (score - mean) ** 2))) + 1e-6;
  const mixed = first.map((score, index) => (score - mean) / spread + weight * (read[index] ?? 0));
  return first
    .map((_, index) => index)
    .sort((left, right) => (mixed[right] as number) - (mixed[left] as number) || left - right);
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
