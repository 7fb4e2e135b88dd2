import type { MessageInput, Role } from "../../index.ts";
import { wordsOf } from "./request-facts.ts";
import { steadyText } from "./steady-text.ts";

/** What the reminders of one client have in common. */
export interface ReminderMark {
  readonly role: Role;
  /** How it begins, without what changes from request to request. */
  readonly head: string;
}

const HEAD = 40;
const RAW_HEAD = 400;
const MIN_HEAD = 8;

/** True if a message may be a reminder: it follows what a person or a tool said. One that answers the model never is. */
export function mayRemind(role: Role, before: Role): boolean {
  return (role === "user" || role === "system") && (before === "user" || before === "tool");
}

/** The mark of a message that may be a reminder; undefined if it says too little to be known by. */
export function reminderMark(message: MessageInput): ReminderMark | undefined {
  const head = steadyText(wordsOf(message).slice(0, RAW_HEAD)).slice(0, HEAD);
  return head.length < MIN_HEAD ? undefined : { role: message.role, head };
}

/** How many of the vanished reminders begin like a message. */
export function countAlike(vanished: readonly ReminderMark[], mark: ReminderMark): number {
  return vanished.filter(({ role, head }) => role === mark.role && head === mark.head).length;
}
