import type { Entry } from "../../../kernel/index.ts";
import type { ExportedSession } from "../../port/writer.ts";
import { findTaskOrigin, readTaskFileEntries, type TaskFormat } from "./task-file-entries.ts";

/**
 * Decides how to write a session that may have been imported from shown messages alone: unchanged, or, once it has new
 * messages, as a full conversation.
 */
export async function prepareShownAlone(
  session: ExportedSession,
  format: TaskFormat,
): Promise<{ readonly isShownAlone: boolean; readonly session: ExportedSession }> {
  if (!findTaskOrigin(session.record, format)?.isShownAlone) return { isShownAlone: false, session };
  for await (const { type } of readTaskFileEntries(session, format))
    if (type === "sent") return { isShownAlone: false, session: removeOrigin(session, format) };
  return { isShownAlone: true, session };
}

/** Strips the format's meta, as if the session came from elsewhere. */
function removeOrigin(session: ExportedSession, format: TaskFormat): ExportedSession {
  return {
    ...session,
    async *entries(which) {
      for await (const entry of session.entries(which)) yield removeFormatMeta(entry, format);
    },
  };
}

function removeFormatMeta(entry: Entry, format: TaskFormat): Entry {
  if (entry.kind !== "message" || !entry.message.meta) return entry;
  const { [format]: _, ...meta } = entry.message.meta;
  return { ...entry, message: { ...entry.message, meta } };
}
