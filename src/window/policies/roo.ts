import type { Budget, Policy } from "../policy.ts";
import { dropOldest, halveUntilItFits } from "./drop-oldest.ts";
import { editPolicy, requestTokens } from "./edit-policy.ts";

const BUFFER_SHARE = 0.1;

/** Roo's sliding window: over nine tenths of the window less the reply, half of what follows the first message leaves. */
export function roo(): Policy {
  return editPolicy("roo", (slots, context) => {
    if (requestTokens(slots, context) <= allowedTokens(context.budget)) return slots;
    return halveUntilItFits(dropOldest(slots, 0.5, "message"), "message", context);
  });
}

/** Tokens that Roo lets a request take. */
export function allowedTokens({ window, tokens }: Budget): number {
  const reserved = window - tokens;
  return window * (1 - BUFFER_SHARE) - reserved;
}
