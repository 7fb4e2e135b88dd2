/** A measured quantity at one point of a run. */
export interface Point {
  readonly requests: number;
  readonly value: number;
}

const PER_REQUESTS = 10_000;

/** Least-squares slope of the points, per 10,000 requests; 0 for fewer than two points. */
export function slopeOf(points: readonly Point[]): number {
  const { length } = points;
  if (length < 2) return 0;
  const mean = (of: (point: Point) => number) => points.reduce((sum, point) => sum + of(point), 0) / length;
  const [x, y] = [mean(({ requests }) => requests), mean(({ value }) => value)];
  const spread = points.reduce((sum, { requests }) => sum + (requests - x) ** 2, 0);
  const common = points.reduce((sum, { requests, value }) => sum + (requests - x) * (value - y), 0);
  return spread === 0 ? 0 : (common / spread) * PER_REQUESTS;
}

/** The last half of a run, because the first half fills bounded caches and compiles code. */
export function lastHalf<T>(samples: readonly T[]): readonly T[] {
  return samples.slice(samples.length >> 1);
}
