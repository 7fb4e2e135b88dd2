/** Windows up to this size give a quarter of themselves to one page, those from the large size on an eighth. */
const SMALL = { window: 32_000, share: 1 / 4 } as const;
const LARGE = { window: 200_000, share: 1 / 8 } as const;
/** A page that has to be smaller than this is not worth its frame. */
export const MIN_PAGE_TOKENS = 120;

/** Tokens that one page may take of a window. */
export function pageBudget(window: number): number {
  const position = Math.log(window / SMALL.window) / Math.log(LARGE.window / SMALL.window);
  const share = SMALL.share + (LARGE.share - SMALL.share) * Math.min(1, Math.max(0, position));
  return Math.floor(window * share);
}
