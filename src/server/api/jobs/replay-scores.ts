import {
  POLICIES,
  type Policy,
  type RecordedMessage,
  type ReplayScore,
  type Retention,
  replay,
} from "../../../kernel/faces/window.ts";

/** The input of a replay. */
export interface ReplayTask {
  readonly conversation: readonly RecordedMessage[];
  readonly window: number;
  /** Names of policies. */
  readonly policies: readonly string[];
  /** True to return the size of the window at each request. */
  readonly hasCurves: boolean;
}

/** One policy's score. */
interface PolicyScore extends Omit<ReplayScore, "editTexts" | "paths" | "identifiers" | "lines"> {
  readonly policy: string;
  /** Cost relative to that of an unlimited window. */
  readonly costShare: number;
  /** The same with the estimated cost of fetching lost content again. */
  readonly fullCostShare: number;
  /** Shares of the used texts, paths, identifiers and lines that were still in the window; 1 if none were used. */
  readonly editTexts: number;
  readonly paths: number;
  readonly identifiers: number;
  readonly lines: number;
  /** Sizes of the window over time; empty unless the task asks for them. */
  readonly curve: readonly CurvePoint[];
}

/** The size of a window at one request. */
interface CurvePoint {
  readonly at: number;
  readonly tokens: number;
  readonly isEdited: boolean;
}

/** Maximum number of points of a curve; edits are kept where points are left out. */
const MAX_POINTS = 2_000;

/** The result of a replay. */
export interface ReplayScores {
  /** The score of an unlimited window. */
  readonly unbounded: ReplayScore | undefined;
  readonly policies: readonly PolicyScore[];
}

/** Replays a conversation under several policies. */
export function scorePolicies(
  conversation: readonly RecordedMessage[],
  window: number,
  policies: readonly Policy[],
  hasCurves = false,
): ReplayScores {
  const none = POLICIES.find(({ name }) => name === "none");
  const unbounded = none && replay(conversation, none, Number.POSITIVE_INFINITY);
  const unboundedCost = Math.max(1, unbounded?.cost ?? 1);
  const scores = policies.map((policy): PolicyScore => {
    const curve: CurvePoint[] = [];
    const onRequest = ({ at, tokens, isEdited }: CurvePoint) => void curve.push({ at, tokens, isEdited });
    const { editTexts, paths, identifiers, lines, ...rest } = replay(
      conversation,
      policy,
      window,
      hasCurves ? { onRequest } : {},
    );
    return {
      policy: policy.name,
      ...rest,
      costShare: rest.cost / unboundedCost,
      fullCostShare: (rest.cost + rest.refetch.cost) / unboundedCost,
      editTexts: getShare(editTexts),
      paths: getShare(paths),
      identifiers: getShare(identifiers),
      lines: getShare(lines),
      curve: thinCurve(curve),
    };
  });
  return { unbounded, policies: scores };
}

/** Keeps every n-th point, marked as edited if one of its stretch was. */
function thinCurve(points: readonly CurvePoint[]): readonly CurvePoint[] {
  const step = Math.ceil(points.length / MAX_POINTS);
  if (step <= 1) return points;
  const thinned: CurvePoint[] = [];
  for (let from = 0; from < points.length; from += step) {
    const stretch = points.slice(from, from + step);
    thinned.push({ ...(stretch.at(-1) as CurvePoint), isEdited: stretch.some(({ isEdited }) => isEdited) });
  }
  return thinned;
}

function getShare({ used, kept }: Retention): number {
  return used === 0 ? 1 : kept / used;
}
