import type { Slot } from "./slot.ts";

/**
 * True for instructions that stand among the messages: a system or developer message of the client. They belong to the
 * system prompt, so they are never cut, hidden or clipped, and never quoted as the user's words.
 */
export function isSystem({ message, original = message, isNote }: Slot): boolean {
  return !isNote && original.role === "system";
}
