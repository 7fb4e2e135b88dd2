import {
  POLICIES,
  type Policy,
  type RecordedMessage,
  type ReplayScore,
  type Retention,
  replay,
} from "../../window-entry.ts";

/** The input of a replay. */
export interface ReplayTask {
  readonly conversation: readonly RecordedMessage[];
  readonly window: number;
  /** Names of policies. */
  readonly policies: readonly string[];
}

/** One policy's score. */
interface PolicyScore extends Omit<ReplayScore, "identifiers" | "lines"> {
  readonly policy: string;
  /** Cost relative to that of an unlimited window. */
  readonly costShare: number;
  /** Shares of the used identifiers and lines that were still in the window; 1 if none were used. */
  readonly identifiers: number;
  readonly lines: number;
}

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
): ReplayScores {
  const none = POLICIES.find(({ name }) => name === "none");
  const unbounded = none && replay(conversation, none, Number.POSITIVE_INFINITY);
  const scores = policies.map((policy): PolicyScore => {
    const { identifiers, lines, ...rest } = replay(conversation, policy, window);
    return {
      policy: policy.name,
      ...rest,
      costShare: rest.cost / Math.max(1, unbounded?.cost ?? 1),
      identifiers: getShare(identifiers),
      lines: getShare(lines),
    };
  });
  return { unbounded, policies: scores };
}

function getShare({ used, kept }: Retention): number {
  return used === 0 ? 1 : kept / used;
}
