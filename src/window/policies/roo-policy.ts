import { findOldestRemovable, proposeHiding } from "../hide-slots.ts";
import type { Pass } from "../pass.ts";
import { truncateMessages } from "../passes/truncate-messages.ts";
import type { Policy, ProviderLimits } from "../policy.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { getWindowIndex } from "../window-index.ts";
import { createEditPolicy } from "./edit-policy.ts";
import { toShare } from "./to-share.ts";

interface RooOptions {
  /** Condenses before truncation becomes necessary; off by default. */
  readonly condense?: CondenseOptions;
}

/** When and how Roo condenses. Without a model to summarize them, condensed messages simply leave. */
export interface CondenseOptions {
  /** Percentage of the allowed tokens at which it condenses, 5 to 100; default 50. */
  readonly threshold?: number;
  /** Condenses when there are more messages than this; default 200. */
  readonly messages?: number;
  /** Number of latest messages that stay in addition to the first; default 3. */
  readonly keep?: number;
}

const BUFFER_SHARE = 0.1;
const CONDENSE = { threshold: 50, messages: 200, keep: 3 } as const;

/**
 * Roo's sliding window: when a request exceeds nine tenths of the window minus the reply, half of the messages after
 * the first leave. With `condense`, all but the first message and the last three leave earlier.
 */
export function rooPolicy({ condense }: RooOptions = {}): Policy {
  const { threshold, messages, keep } = { ...CONDENSE, ...condense };
  const share = toShare("condense.threshold", threshold);
  return createEditPolicy("roo", {
    head: "message",
    steps: [
      (slots, { limits, tokensBefore }) => {
        const isDue = tokensBefore >= computeAllowedTokens(limits) * share || slots.length > messages;
        return condense && isDue ? keepEnds(keep) : undefined;
      },
      (slots, { limits, tokensWith }) => {
        const isOver = tokensWith(slots) > computeAllowedTokens(limits);
        return isOver ? truncateMessages("half", { head: "message" }) : undefined;
      },
    ],
  });
}

/** Maximum tokens that Roo allows for a request. */
export function computeAllowedTokens({ window, tokens }: Pick<ProviderLimits, "window" | "tokens">): number {
  const reserved = window - tokens;
  return window * (1 - BUFFER_SHARE) - reserved;
}

/** Hides all groups between the first user message and the `latest` messages. */
export function keepEnds(latest: number): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    const start = slots.length - latest;
    const old = getWindowIndex(slots).groups.filter(({ to }) => to < start);
    const units = findOldestRemovable(slots, old, kept, () => false);
    const leaving = units.filter((unit) => unit.every((index) => index < start));
    return proposeHiding(slots, leaving.flat(), `all but the last ${latest} messages`, context);
  };
}
