import { applyEdits } from "../apply-edits.ts";
import { duplicateReads } from "../passes/duplicate-reads.ts";
import type { Policy } from "../policy.ts";
import type { Slot } from "../slot.ts";
import { dropOldest, halveUntilItFits } from "./drop-oldest.ts";
import { type EditContext, editPolicy, requestTokens } from "./edit-policy.ts";

const BUFFERS: ReadonlyMap<number, number> = new Map([
  [64_000, 27_000],
  [128_000, 30_000],
  [200_000, 40_000],
]);
const DEFAULT_BUFFER = 40_000;
const DEFAULT_SHARE = 0.8;
const ENOUGH_SAVED = 0.3;

/**
 * Cline's truncation: from the buffer on, repeated reads of a file leave first; where that does not save 30 %, so does
 * half of what follows the first pair, or three quarters if half of the window would not do.
 */
export function cline(): Policy {
  return editPolicy("cline", (slots, context) => {
    const before = requestTokens(slots, context);
    const allowed = maxAllowedTokens(context.budget.window);
    if (before < allowed && before <= context.budget.tokens) return slots;
    const deduplicated = withoutDuplicateReads(slots, context);
    const messages = before - context.budget.system;
    const saved = before - requestTokens(deduplicated, context);
    if (saved >= messages * ENOUGH_SAVED) return halveUntilItFits(deduplicated, "pair", context);
    const share = before / 2 > allowed ? 0.75 : 0.5;
    return halveUntilItFits(dropOldest(deduplicated, share, "pair"), "pair", context);
  });
}

/** From how many tokens on Cline cuts. */
export function maxAllowedTokens(window: number): number {
  const buffer = BUFFERS.get(window);
  if (buffer !== undefined) return window - buffer;
  return Math.max(window - DEFAULT_BUFFER, window * DEFAULT_SHARE);
}

function withoutDuplicateReads(slots: readonly Slot[], { tokensOf }: EditContext): readonly Slot[] {
  const proposals = duplicateReads(slots, { session: "history", tokensOf });
  return applyEdits(
    slots,
    proposals.map(({ edit }) => edit),
    tokensOf,
  );
}
