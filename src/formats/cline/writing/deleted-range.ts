import type { ExportedSession } from "../../port/writer.ts";
import { isIn, overlaysOf } from "../../writing/overlays.ts";
import { readTaskFileEntries } from "./task-file-entries.ts";

/** Cline always sends the first two messages. */
const KEPT_MESSAGES = 2;

/**
 * Returns the range after the first two messages that left the window; Cline can represent only one such range, which
 * must begin there.
 */
export async function findDeletedRange(
  session: ExportedSession,
): Promise<readonly [number, number] | undefined> {
  const ranges = (await overlaysOf(session)).flatMap(({ edit }) => {
    // A summary that is not on the line itself would be missing from the window.
    const isSaid = edit.type === "hide" || (edit.type === "summarize" && edit.entry !== undefined);
    return isSaid ? edit.ranges : [];
  });
  if (ranges.length === 0) return undefined;
  let index = 0;
  let last = KEPT_MESSAGES - 1;
  for await (const item of readTaskFileEntries(session, "cline")) {
    if (item.type !== "sent" && item.type !== "element") continue;
    if (index === last + 1 && isIn(item.entry, ranges)) last = index;
    index++;
  }
  return last < KEPT_MESSAGES ? undefined : [KEPT_MESSAGES, last];
}

/** Adds the deleted range to the last message, unless that message already has a longer one. */
export async function* addDeletedRange(
  messages: AsyncIterable<Readonly<Record<string, unknown>>>,
  range: readonly [number, number] | undefined,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let held: Readonly<Record<string, unknown>> | undefined;
  for await (const message of messages) {
    if (held) yield held;
    held = message;
  }
  if (!held) return;
  const said = held.conversationHistoryDeletedRange;
  const reach = Array.isArray(said) ? Number(said[1]) : -1;
  yield range && reach < range[1] ? { ...held, conversationHistoryDeletedRange: range } : held;
}
