import type { Slot } from "./slot.ts";

/** Tokens of slots together. */
export function sizeOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { tokens }) => sum + tokens, 0);
}
