import { type TaskEntry, type TaskId, textOfMessage } from "../../index.ts";

/** Formats an entry of a task's session for its output; "" for entries that are not shown. */
export function formatTaskEntry(entry: TaskEntry, task: TaskId): string {
  if (entry.kind === "message") {
    // The text was already shown while it streamed.
    if (entry.message.meta?.isStreamed) return "";
    const text = textOfMessage(entry.message).trim();
    return text === "" ? "" : `${entry.message.role}: ${text}\n`;
  }
  if (entry.kind !== "task" || entry.task !== task) return "";
  const { note } = entry;
  switch (note.type) {
    case "output":
      return note.text;
    case "call":
      return `· ${note.name} ${JSON.stringify(note.arguments)}\n`;
    case "summary":
      return `· ${note.text}\n`;
    case "loop":
      return `· ${note.call} was called ${note.repeats} times in a row with the same result\n`;
    default:
      return "";
  }
}
