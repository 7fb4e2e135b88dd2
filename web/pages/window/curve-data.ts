import type { Reply } from "../../api/routes.ts";

export type Curve = Reply<"GET /sessions/{session}/curve">;
export type CurveEdit = Curve["edits"][number];

/** A curve as the chart takes it. */
export interface CurveColumns {
  /** Numbers of the requests. */
  readonly x: readonly number[];
  readonly tokens: readonly number[];
  /** Tokens that were read from the cache; null if not reported. */
  readonly cached: readonly (number | null)[];
  /** Points with an edit, each once. */
  readonly marks: readonly number[];
}

/** Turns a curve into columns. */
export function toColumns({ tokens, cacheShares, stretch, edits }: Curve): CurveColumns {
  const marks = new Set<number>();
  if (tokens.length > 0) for (const { point } of edits) marks.add(Math.min(point, tokens.length - 1));
  return {
    x: tokens.map((_, index) => index * stretch + 1),
    tokens,
    cached: tokens.map((size, index) => {
      const share = cacheShares[index];
      return share === null || share === undefined ? null : size * share;
    }),
    marks: [...marks].sort((one, other) => one - other),
  };
}

/** The index of the edit nearest to a point, within a distance in points. Edits are in the order of their points. */
export function findNearestEdit(
  edits: readonly Pick<CurveEdit, "point">[],
  point: number,
  distance: number,
): number | undefined {
  let [low, high] = [0, edits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edits[middle] as CurveEdit).point < point) low = middle + 1;
    else high = middle;
  }
  const near = [low - 1, low].filter((index) => index >= 0 && index < edits.length);
  const far = (index: number) => Math.abs((edits[index] as CurveEdit).point - point);
  const [nearest] = near.sort((one, other) => far(one) - far(other));
  return nearest !== undefined && far(nearest) <= distance ? nearest : undefined;
}
