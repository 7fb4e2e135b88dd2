import { estimateRemainingCalls } from "../money/break-even.ts";
import { isPage } from "../paging/page-note.ts";
import type { CachePrices } from "../policy.ts";
import { findNewestQuestion } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";
import { sumSlotTokens } from "../sum-slot-tokens.ts";

/** The facts that decide whether pages leave a window. */
interface PageCosts {
  /** Tokens by which the window exceeds its limit; negative if it fits. */
  readonly overTokens: number;
  readonly prices: CachePrices;
  /** True if the provider's cache has expired, so that changing the window costs nothing extra. */
  readonly isCold: boolean;
  /** Requests of the session so far. */
  readonly calls: number;
}

/**
 * The pages to take out of a window. A page of an earlier turn leaves if carrying it would cost more than writing again
 * the messages sent after it; a chat has none, because the reply was never sent before. A page of the running turn
 * stays while the window fits, because its tool calls are likely to need it. If the window is too large, pages leave
 * before anything else, oldest first.
 */
export function chooseLeavingPages(
  slots: readonly Slot[],
  { overTokens, prices, isCold, calls }: PageCosts,
): readonly Slot[] {
  const pages = slots.filter(isPage);
  if (pages.length === 0) return pages;
  const question = slots[findNewestQuestion(slots)]?.seq ?? 0;
  const lastReply = slots.findLastIndex(({ message, isNote }) => message.role === "assistant" && !isNote);
  let over = overTokens;
  return pages.filter((page) => {
    const after = slots.slice(slots.indexOf(page) + 1, Math.max(0, lastReply));
    const rewriting = sumSlotTokens(after) * Math.max(0, prices.write - prices.read);
    const carrying = page.tokens * prices.read * Math.max(1, estimateRemainingCalls(calls));
    const isOld = page.seq <= question;
    const isLeaving = over > 0 || (isOld && (isCold || rewriting <= carrying));
    if (isLeaving) over -= page.tokens;
    return isLeaving;
  });
}
