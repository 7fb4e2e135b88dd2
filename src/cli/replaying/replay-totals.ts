import type { ReplayScore } from "../../kernel/faces/window.ts";

/** Summed scores of several sessions under one policy and window. */
export interface ReplayTotals {
  readonly policy: string;
  readonly window: number;
  readonly sessions: number;
  readonly requests: number;
  /** Cost in input tokens; `costShare` relates it to an unbounded window. */
  readonly cost: number;
  readonly costShare: number;
  /** Estimated extra calls and cost of fetching lost content again; `fullCostShare` is `costShare` with that cost. */
  readonly refetchCalls: number;
  readonly refetchCost: number;
  readonly fullCostShare: number;
  readonly sentTokens: number;
  readonly peakTokens: number;
  readonly edits: number;
  /** Shares of the texts of edits, of paths and of references still in the window; 1 if there were none. */
  readonly editTexts: number;
  readonly paths: number;
  readonly identifiers: number;
  readonly lines: number;
  /** Highest cost of a single session, relative to the same session with an unbounded window. */
  readonly dearest: number;
  /** US dollars at the prices of the sessions' models, and with an unbounded window; of priced sessions only. */
  readonly dollars: number;
  readonly unboundedDollars: number;
  readonly unpricedSessions: number;
  /** Shares of the thinking that the model still had, and of requests with all thinking of their turn; if asked for. */
  readonly thinkingAlive?: number;
  readonly turnWhole?: number;
  readonly lostThinkingTokens?: number;
}

/** A session's score with its score in an unbounded window. */
export interface ComparedScore {
  readonly score: ReplayScore;
  readonly unbounded: ReplayScore;
  /** US dollars of an uncached input token; undefined if unknown. */
  readonly tokenPrice: number | undefined;
}

/** Sums the scores of sessions. */
export function sumReplays(policy: string, window: number, compared: readonly ComparedScore[]): ReplayTotals {
  const sum = (of: (one: ComparedScore) => number) => compared.reduce((total, one) => total + of(one), 0);
  const share = (of: (score: ReplayScore) => { readonly used: number; readonly kept: number }) => {
    const used = sum(({ score }) => of(score).used);
    return used === 0 ? 1 : sum(({ score }) => of(score).kept) / used;
  };
  const none = { used: 0, kept: 0 };
  const thinking = compared.some(({ score }) => score.thinking) && {
    thinkingAlive: share((score) => score.thinking?.alive ?? none),
    turnWhole: share((score) => score.thinking?.turns ?? none),
    lostThinkingTokens: sum(({ score }) => score.thinking?.lost.tokens ?? 0),
  };
  const cost = sum(({ score }) => score.cost);
  const refetchCost = sum(({ score }) => score.refetch.cost);
  const unboundedCost = Math.max(
    1,
    sum(({ unbounded }) => unbounded.cost),
  );
  return {
    policy,
    window,
    sessions: compared.length,
    requests: sum(({ score }) => score.requests),
    cost,
    costShare: cost / unboundedCost,
    refetchCalls: sum(({ score }) => score.refetch.calls),
    refetchCost,
    fullCostShare: (cost + refetchCost) / unboundedCost,
    sentTokens: sum(({ score }) => score.sentTokens),
    peakTokens: compared.reduce((most, { score }) => Math.max(most, score.peakTokens), 0),
    edits: sum(({ score }) => score.edits),
    editTexts: share((score) => score.editTexts),
    paths: share((score) => score.paths),
    identifiers: share((score) => score.identifiers),
    lines: share((score) => score.lines),
    dollars: sum(({ score, tokenPrice = 0 }) => score.cost * tokenPrice),
    unboundedDollars: sum(({ unbounded, tokenPrice = 0 }) => unbounded.cost * tokenPrice),
    unpricedSessions: compared.filter(({ tokenPrice }) => tokenPrice === undefined).length,
    dearest: compared.reduce(
      (most, { score, unbounded }) => Math.max(most, score.cost / Math.max(1, unbounded.cost)),
      0,
    ),
    ...thinking,
  };
}
