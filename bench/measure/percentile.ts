/** The value below which the given share (0 to 1) of all values lies. */
export function percentile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: Iterable<number>): number {
  return percentile(values, 0.5);
}
