import type { TokensOf } from "../apply-edits.ts";
import type { Budget, Moment, Policy } from "../policy.ts";
import { rescue } from "../rescue.ts";
import { sizeOf } from "../size.ts";
import type { Slot } from "../slot.ts";
import { withoutLostCalls } from "./lost-calls.ts";

/** What a policy's edit has to know besides the window. */
export interface EditContext extends Moment {
  readonly budget: Budget;
  readonly tokensOf: TokensOf;
}

/** The window after a policy's edit. Pure; slots it does not change stay the very same objects. */
export type EditWindow = (slots: readonly Slot[], context: EditContext) => readonly Slot[];

/**
 * A policy that edits the window it sent last, with what has come since. Edits therefore hold for good, and what they
 * took away is not kept: not even as the original of a slot.
 */
export function editPolicy(name: string, edit: EditWindow): Policy {
  return {
    name,
    start(budget, tokensOf) {
      let window: readonly Slot[] = [];
      let arrived: Slot[] = [];
      return {
        observe: (slot) => void arrived.push(slot),
        fit(moment) {
          const slots = [...window, ...arrived];
          arrived = [];
          const edited = withoutLostCalls(edit(slots, { ...moment, budget, tokensOf }), tokensOf);
          window = rescue(edited, budget.tokens - budget.system, tokensOf).map(withoutOriginal);
          return window;
        },
      };
    },
  };
}

/** Tokens of a request with these messages. */
export function requestTokens(slots: readonly Slot[], { budget }: EditContext): number {
  return budget.system + sizeOf(slots);
}

function withoutOriginal(slot: Slot): Slot {
  if (!slot.original) return slot;
  const { original: _, ...rest } = slot;
  return rest;
}
