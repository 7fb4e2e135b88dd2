import type { Slot } from "./slot.ts";

/**
 * True for a system or developer message that the client placed among the messages. It counts as part of the system
 * prompt: it is never hidden or clipped, and never quoted as the user's words.
 */
export function isSystem({ message, original = message, isNote }: Slot): boolean {
  return !isNote && original.role === "system";
}
