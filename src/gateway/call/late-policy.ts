import type { Policy, Slot } from "../../window-entry.ts";

/** A policy that leaves the window alone until it exceeds the budget, even where an earlier edit would save money. */
export function createLatePolicy(base: Policy): Policy {
  return {
    ...base,
    start(budget, tokensOf, course) {
      const run = base.start(budget, tokensOf, course);
      let window: Slot[] = [...(course?.window ?? [])];
      let reason: string | undefined;
      return {
        observe(slot) {
          window.push(slot);
          run.observe(slot);
        },
        fit(moment) {
          const messageTokens = window.reduce((sum, { tokens }) => sum + tokens, 0);
          const tokens = budget.system + messageTokens;
          const isWithin = tokens <= budget.tokens && window.length <= (budget.messages ?? window.length);
          if (!isWithin) window = [...run.fit(moment)];
          reason = isWithin ? undefined : run.reason;
          return [...window];
        },
        digest: () => run.digest?.(),
        get reason() {
          return reason;
        },
      };
    },
  };
}
