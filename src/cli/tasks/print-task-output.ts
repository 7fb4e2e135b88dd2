import type { OutputOptions, TaskEntry } from "../../kernel/faces/task.ts";
import { isTerminal, type Kernel, type TaskId, textOfMessage } from "../../kernel/index.ts";
import type { CliContext } from "../cli-context.ts";
import { escapeText, toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";

/** Why following ended: the task ended, moved to the background, or the reader stopped. */
export type FollowEnd = "ended" | "detached" | "stopped";

/** A task to follow and how to print its output. */
interface FollowRequest {
  readonly kernel: Kernel;
  readonly context: CliContext;
  readonly task: TaskId;
  /** Print each entry as a line of JSON. */
  readonly isJson: boolean;
  /** Print control characters unescaped, even on a terminal. */
  readonly isRaw: boolean;
  readonly outputOptions: OutputOptions;
  /** Return when the task moves to the background. */
  readonly endsWithForeground?: boolean;
}

/** Prints a task's output from the log. */
export async function printTaskOutput(following: FollowRequest): Promise<FollowEnd> {
  const { kernel, context, task, isJson, outputOptions: reading } = following;
  const { isTerminal: isTerminalOf, signal } = context;
  for await (const entry of kernel.tasks.output(task, reading)) {
    const stream = isJson ? "stdout" : chooseStream(entry);
    const plain = isJson ? "" : formatTaskEntry(entry, task);
    const isShown = isTerminalOf[stream] && !following.isRaw;
    const text = isJson ? `${toSafeJson(entry)}\n` : isShown ? escapeText(plain) : plain;
    if (text !== "") await printTo(context[stream], text, signal);
    const end = findEnd(entry, following);
    if (end) return end;
  }
  return "stopped";
}

/** The program's stderr goes to our stderr. */
function chooseStream(entry: TaskEntry): "stdout" | "stderr" {
  return entry.kind === "task" && entry.note.type === "output" ? (entry.note.stream ?? "stdout") : "stdout";
}

function findEnd(entry: TaskEntry, { task, endsWithForeground }: FollowRequest): FollowEnd | undefined {
  if (entry.kind !== "task" || entry.task !== task || entry.note.type !== "moved") return undefined;
  if (isTerminal(entry.note.to)) return "ended";
  return endsWithForeground && entry.note.mode === "background" ? "detached" : undefined;
}

/** Formats an entry of a task's session for its output; "" for entries that are not shown. */
function formatTaskEntry(entry: TaskEntry, task: TaskId): string {
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
