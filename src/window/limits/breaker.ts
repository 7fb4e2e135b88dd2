/** Counts edits in a row that did not make the window smaller. */
export interface Breaker {
  readonly idleEdits: number;
}

/** When edits are to stop. */
export interface BreakerLimits {
  /** Edits without progress after which there are no more. */
  readonly mostIdleEdits: number;
  /** Share of the window that an edit must free to count as progress. */
  readonly leastFreedShare: number;
}

export const breakerLimits: BreakerLimits = { mostIdleEdits: 3, leastFreedShare: 0.02 };

/** A breaker that has seen no edit yet. */
export const freshBreaker: Breaker = { idleEdits: 0 };

/** The breaker after an edit; progress makes it forget. */
export function afterEdit(
  breaker: Breaker,
  edit: { readonly beforeTokens: number; readonly afterTokens: number },
  limits: BreakerLimits = breakerLimits,
): Breaker {
  const freedTokens = edit.beforeTokens - edit.afterTokens;
  const isProgress = freedTokens > 0 && freedTokens >= edit.beforeTokens * limits.leastFreedShare;
  return isProgress ? freshBreaker : { idleEdits: breaker.idleEdits + 1 };
}

/** Says that further edits would only cost. */
export function isTripped(breaker: Breaker, limits: BreakerLimits = breakerLimits): boolean {
  return breaker.idleEdits >= limits.mostIdleEdits;
}
