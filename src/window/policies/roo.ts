import { keepEnds } from "../passes/keep-ends.ts";
import { truncate } from "../passes/truncate.ts";
import type { Policy, ProviderLimits } from "../policy.ts";
import { editPolicy } from "./edit-policy.ts";
import { percentOf } from "./percent.ts";

/** What Roo can be told otherwise. */
export interface RooOptions {
  /** Condenses before truncation has to; not unless given. */
  readonly condense?: CondenseOptions;
}

/** When and how Roo condenses. Without a model to summarise it, what is condensed just leaves. */
export interface CondenseOptions {
  /** From this percentage of what is allowed on, 5 to 100; 50 unless given. */
  readonly threshold?: number;
  /** From more than so many messages on; 200 unless given. */
  readonly messages?: number;
  /** How many of the latest messages stay beside the first; 3 unless given. */
  readonly keep?: number;
}

const BUFFER_SHARE = 0.1;
const CONDENSE = { threshold: 50, messages: 200, keep: 3 } as const;

/**
 * Roo's sliding window: over nine tenths of the window less the reply, half of what follows the first message leaves. If
 * told so it condenses earlier: all but the first message and the last three leave.
 */
export function roo({ condense }: RooOptions = {}): Policy {
  const { threshold, messages, keep } = { ...CONDENSE, ...condense };
  const share = percentOf("condense.threshold", threshold);
  return editPolicy("roo", {
    head: "message",
    steps: [
      (slots, { limits, tokensBefore }) => {
        const isDue = tokensBefore >= allowedTokens(limits) * share || slots.length > messages;
        return condense && isDue ? keepEnds(keep) : undefined;
      },
      (slots, { limits, tokensWith }) => {
        const isOver = tokensWith(slots) > allowedTokens(limits);
        return isOver ? truncate("half", { head: "message" }) : undefined;
      },
    ],
  });
}

/** Tokens that Roo lets a request take. */
export function allowedTokens({ window, tokens }: Pick<ProviderLimits, "window" | "tokens">): number {
  const reserved = window - tokens;
  return window * (1 - BUFFER_SHARE) - reserved;
}
