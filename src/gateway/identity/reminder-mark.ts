import type { MessageInput, Role } from "../../index.ts";
import { getMessageText } from "./request-facts.ts";
import { toStableText } from "./stable-text.ts";

/** The common features of one client's reminders. */
export interface ReminderMark {
  readonly role: Role;
  /** The beginning of the reminder, without text that changes between requests. */
  readonly head: string;
}

const HEAD = 40;
const RAW_HEAD = 400;
const MIN_HEAD = 8;

/**
 * True if a message may be a reminder: it follows a message of a user or a tool. A message that follows the model's is
 * never a reminder.
 */
export function canBeReminder(role: Role, before: Role): boolean {
  return (role === "user" || role === "system") && (before === "user" || before === "tool");
}

/** The mark of a possible reminder; undefined if its text is too short to identify it. */
export function buildReminderMark(message: MessageInput): ReminderMark | undefined {
  const head = toStableText(getMessageText(message).slice(0, RAW_HEAD)).slice(0, HEAD);
  return head.length < MIN_HEAD ? undefined : { role: message.role, head };
}

/** Number of vanished reminders that begin like a message. */
export function countSimilarReminders(vanished: readonly ReminderMark[], mark: ReminderMark): number {
  return vanished.filter(({ role, head }) => role === mark.role && head === mark.head).length;
}
