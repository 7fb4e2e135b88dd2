/** A measured quantity at a time. */
export interface GrowthPoint {
  readonly at: number;
  readonly value: number;
}

/** The growth of a quantity. */
interface Growth {
  /** Per hour, by least squares; 0 for too few points. */
  readonly perHour: number;
  /** True if the points rise steadily and by a share that cannot be noise. */
  readonly isSteady: boolean;
}

const HOUR_MS = 3_600_000;
/** Fewer points say nothing: caches fill at first, and collections make the heap jump. */
const MIN_POINTS = 20;
/** Share of the variance that a straight line must explain. */
const MIN_FIT = 0.8;
/** Rise over all points, relative to their mean. */
const MIN_RISE = 0.2;

/** Fits a line to the points. */
export function measureGrowth(points: readonly GrowthPoint[]): Growth {
  const { length } = points;
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || length < MIN_POINTS || last.at <= first.at) return { perHour: 0, isSteady: false };
  const mean = (of: (point: GrowthPoint) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / length;
  const [x, y] = [mean(({ at }) => at), mean(({ value }) => value)];
  const spreadX = points.reduce((sum, { at }) => sum + (at - x) ** 2, 0);
  const spreadY = points.reduce((sum, { value }) => sum + (value - y) ** 2, 0);
  const common = points.reduce((sum, { at, value }) => sum + (at - x) * (value - y), 0);
  const slope = common / spreadX;
  const fit = spreadY === 0 ? 0 : common ** 2 / (spreadX * spreadY);
  const rise = slope * (last.at - first.at);
  return { perHour: slope * HOUR_MS, isSteady: fit >= MIN_FIT && rise >= MIN_RISE * y };
}
