import { stubDuplicateReads } from "../passes/stub-duplicate-reads.ts";
import { truncateMessages } from "../passes/truncate-messages.ts";
import type { Policy } from "../policy.ts";
import { createEditPolicy, type StepContext } from "./edit-policy.ts";

interface ClineOptions {
  /** Number of tokens at which it cuts; by default depends on the window size. */
  readonly maxAllowed?: number;
}

const BUFFERS: ReadonlyMap<number, number> = new Map([
  [64_000, 27_000],
  [128_000, 30_000],
  [200_000, 40_000],
]);
const DEFAULT_BUFFER = 40_000;
const DEFAULT_SHARE = 0.8;
const ENOUGH_SAVED = 0.3;

/**
 * Cline's truncation: at the threshold, repeated reads of a file leave first. If that saves less than 30 %, half of the
 * messages after the first exchange leave, or three quarters if half of the tokens would still be too many.
 */
export function clinePolicy({ maxAllowed }: ClineOptions = {}): Policy {
  const allowedIn = ({ limits }: StepContext) => maxAllowed ?? computeMaxAllowedTokens(limits.window);
  const isDue = (context: StepContext) => context.tokensBefore >= allowedIn(context) || context.isOverBudget;
  return createEditPolicy("cline", {
    head: "exchange",
    steps: [
      (_, context) => (isDue(context) ? stubDuplicateReads : undefined),
      (slots, context) => {
        const { tokensBefore, tokensWith } = context;
        const saved = tokensBefore - tokensWith(slots);
        if (!isDue(context) || saved >= (tokensBefore - tokensWith([])) * ENOUGH_SAVED) return undefined;
        return truncateMessages(tokensBefore / 2 > allowedIn(context) ? "quarter" : "half");
      },
    ],
  });
}

/** The number of tokens at which Cline cuts. */
export function computeMaxAllowedTokens(window: number): number {
  const buffer = BUFFERS.get(window);
  if (buffer !== undefined) return window - buffer;
  return Math.max(window - DEFAULT_BUFFER, window * DEFAULT_SHARE);
}
