/** One page may take a quarter of a window up to the small size, and an eighth of a window from the large size up. */
const SMALL = { window: 32_000, share: 1 / 4 } as const;
const LARGE = { window: 200_000, share: 1 / 8 } as const;
/** A smaller page is not worth its frame. */
export const MIN_PAGE_TOKENS = 120;

/** Maximum tokens of one page in a window. */
export function computePageBudget(window: number): number {
  const position = Math.log(window / SMALL.window) / Math.log(LARGE.window / SMALL.window);
  const share = SMALL.share + (LARGE.share - SMALL.share) * Math.min(1, Math.max(0, position));
  return Math.floor(window * share);
}
