import type { PageCue } from "./page-cue.ts";

/** A stretch of the log that a page could show, with its cost. */
export interface PageStretch {
  readonly score: number;
  readonly characters: number;
  readonly tokens: number;
  /** True if the window already shows it. */
  readonly isShown: boolean;
}

/** Less specific questions are about nothing in particular. */
export const MIN_SPECIFICITY = 5;
/** If less of a question is found than this, the hits are about something else. */
export const MIN_CERTAINTY = 0.35;
/** Stretches count as related down to this share of the best score. */
const RELATED_SHARE = 0.3;
/** If the window already shows the best stretch, the others must reach this share of its score. */
const CLOSE_SHARES: Readonly<Record<PageCue["kind"], number>> = {
  recall: 0.6,
  question: 0.9,
  statement: 0.95,
  plan: 0.6,
  error: 0.6,
};
/** Beyond this many tokens, only clearly related stretches are added. */
const BROAD_TOKENS = 4_000;
const CLEAR_SHARE = 0.5;
/** Longer stretches must be more closely related: their score is divided by this power of their length. */
const LENGTH_POWER = 0.25;
const LENGTH_OFFSET = 100;

/**
 * The minimum score of a stretch worth reading; `best` is the best of all, including stretches that the window shows.
 */
export function computeMinScore(
  best: Pick<PageStretch, "score" | "isShown">,
  kind: PageCue["kind"] = "recall",
): number {
  return best.score * (best.isShown ? CLOSE_SHARES[kind] : RELATED_SHARE);
}

/**
 * Chooses the stretches that are worth their tokens, within a budget, and returns their indexes. Stretches in the
 * window are not shown again; if the window shows the best one, the question is assumed to be about content that never
 * left.
 */
export function chooseStretches(
  stretches: readonly PageStretch[],
  maxTokens: number,
  kind: PageCue["kind"] = "recall",
): readonly number[] {
  const best = stretches.reduce<PageStretch | undefined>(
    (found, stretch) => (found && found.score >= stretch.score ? found : stretch),
    undefined,
  );
  if (!best) return [];
  const least = computeMinScore(best, kind);
  const worthOf = ({ score, characters }: PageStretch) =>
    score / (LENGTH_OFFSET + characters) ** LENGTH_POWER;
  const ranked = [...stretches.entries()]
    .filter(([, { score, isShown }]) => !isShown && score > 0 && score >= least)
    .sort(([, one], [, other]) => worthOf(other) - worthOf(one));
  const chosen: number[] = [];
  let used = 0;
  for (const [index, { tokens, score }] of ranked) {
    const most = score >= best.score * CLEAR_SHARE ? maxTokens : Math.min(maxTokens, BROAD_TOKENS);
    if (used + tokens > most) continue;
    used += tokens;
    chosen.push(index);
  }
  return chosen;
}
