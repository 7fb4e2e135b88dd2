import {
  POLICIES,
  type Policy,
  type ReplayScore,
  type Retention,
  replay,
  type SaidMessage,
} from "../../index.ts";

/** What is to be replayed. */
export interface ReplayTask {
  readonly conversation: readonly SaidMessage[];
  readonly window: number;
  /** Names. */
  readonly policies: readonly string[];
}

/** One policy's score. */
export interface PolicyScore extends Omit<ReplayScore, "identifiers" | "lines"> {
  readonly policy: string;
  /** Cost beside that of a window without bounds. */
  readonly costShare: number;
  /** Shares of what was used that was still in the window; 1 where nothing was used. */
  readonly identifiers: number;
  readonly lines: number;
}

/** What came of a replay. */
export interface ReplayScores {
  /** Without any bound of the window. */
  readonly unbounded: ReplayScore | undefined;
  readonly policies: readonly PolicyScore[];
}

/** Replays a conversation under policies. */
export function replayScores(
  conversation: readonly SaidMessage[],
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
      identifiers: share(identifiers),
      lines: share(lines),
    };
  });
  return { unbounded, policies: scores };
}

function share({ used, kept }: Retention): number {
  return used === 0 ? 1 : kept / used;
}
