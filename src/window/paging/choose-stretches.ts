/** A stretch that could be shown, with what that takes. */
export interface Stretch {
  readonly score: number;
  readonly characters: number;
  readonly tokens: number;
  /** True if the window shows it anyway. */
  readonly isShown: boolean;
}

/** Questions that name less than this are about nothing in particular. */
export const MIN_SPECIFICITY = 5;
/** Where less of a question is found, what is found is about something else. */
export const MIN_CERTAINTY = 0.35;
/** Stretches count down to this share of the best score; */
const RELATED_SHARE = 0.3;
/** if the window shows the best one, the others must come close to it; */
const CLOSE_SHARE = 0.6;
/** and beyond so many tokens only the clearly related count. */
const BROAD_TOKENS = 4_000;
const CLEAR_SHARE = 0.5;
/** Long stretches have to be related more closely, by this power of their length. */
const LENGTH_POWER = 0.25;
const LENGTH_OFFSET = 100;

/** The score below which a stretch is not worth a look; `best` is the best of all, with what the window shows. */
export function leastScore(best: Pick<Stretch, "score" | "isShown">): number {
  return best.score * (best.isShown ? CLOSE_SHARE : RELATED_SHARE);
}

/**
 * Indexes of the stretches that are worth their tokens, within a budget. What the window shows is not shown again, and
 * if it shows the best, a question is taken to be about what never left.
 */
export function chooseStretches(stretches: readonly Stretch[], maxTokens: number): readonly number[] {
  const best = stretches.reduce<Stretch | undefined>(
    (found, stretch) => (found && found.score >= stretch.score ? found : stretch),
    undefined,
  );
  if (!best) return [];
  const least = leastScore(best);
  const worthOf = ({ score, characters }: Stretch) => score / (LENGTH_OFFSET + characters) ** LENGTH_POWER;
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
