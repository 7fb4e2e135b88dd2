import { compactOnCommand } from "../../conversation/compact-on-command.ts";
import type { EntryId } from "../../index.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";

/** Carries out a `/compact` that a person typed; agents with such a command handle it themselves. */
export function carryOutCommand(
  thread: Thread,
  { isDryRun, chain, messages, signal }: CallRequest,
  last: EntryId | undefined,
): Promise<unknown> | undefined {
  const { session, kind } = thread;
  const newest = messages.list.at(-1);
  if (newest?.role !== "user" || kind !== "main" || isDryRun || chain) return undefined;
  if (thread.countReminders(messages) > 0) return undefined;
  return compactOnCommand(session, { id: last, message: () => newest.input() }, { signal });
}
