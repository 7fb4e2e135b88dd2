import type { Slot } from "../slot.ts";

/** True if windows differ at most in the parts of single messages. */
export function isSameSlots(before: readonly Slot[], after: readonly Slot[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ seq, isNote, message }, index) => {
      const other = after[index] as Slot;
      if (message === other.message) return true;
      return (
        !isNote && !other.isNote && seq === other.seq && message.parts.length === other.message.parts.length
      );
    })
  );
}

/** True if windows show the same messages. */
export function isSameWindow(before: readonly Slot[], after: readonly Slot[]): boolean {
  if (before.length !== after.length) return false;
  for (let index = 0; index < before.length; index++)
    if (before[index]?.message !== after[index]?.message) return false;
  return true;
}
