import type { Slot } from "./slot.ts";

/** Total tokens of slots. */
export function sumSlotTokens(slots: readonly Slot[]): number {
  let sum = 0;
  for (const { tokens } of slots) sum += tokens;
  return sum;
}
