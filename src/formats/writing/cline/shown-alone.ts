import type { Entry } from "../../../index.ts";
import type { ExportedSession } from "../writer.ts";
import { type TaskFormat, taskEntries, taskOrigin } from "./task-session.ts";

/**
 * How a session is to be written that may have come from nothing but what a person was shown: such a one as it was. Once
 * it has gone on it needs a conversation, and so all of it becomes one.
 */
export async function shownAlone(
  session: ExportedSession,
  format: TaskFormat,
): Promise<{ readonly isShownAlone: boolean; readonly session: ExportedSession }> {
  if (!taskOrigin(session.record, format)?.isShownAlone) return { isShownAlone: false, session };
  for await (const { type } of taskEntries(session, format))
    if (type === "sent") return { isShownAlone: false, session: withoutOrigin(session, format) };
  return { isShownAlone: true, session };
}

/** The session as if it had come from elsewhere. */
function withoutOrigin(session: ExportedSession, format: TaskFormat): ExportedSession {
  return {
    ...session,
    async *entries(which) {
      for await (const entry of session.entries(which)) yield plain(entry, format);
    },
  };
}

function plain(entry: Entry, format: TaskFormat): Entry {
  if (entry.kind !== "message" || !entry.message.meta) return entry;
  const { [format]: _, ...meta } = entry.message.meta;
  return { ...entry, message: { ...entry.message, meta } };
}
