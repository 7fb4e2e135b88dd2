import { isTerminal, type Kernel, type OutputOptions, type TaskEntry, type TaskId } from "../../index.ts";
import type { Context } from "../context.ts";
import { escapeText, safeJson } from "../escape.ts";
import { printTo } from "../printer.ts";
import { entryText } from "./entry-text.ts";

/** How reading along ended: the task did, it moved to the background, or the reader stopped. */
export type FollowEnd = "ended" | "detached" | "stopped";

/** What is read along, and how it is printed. */
export interface Following {
  readonly kernel: Kernel;
  readonly context: Context;
  readonly task: TaskId;
  /** One entry a line, as JSON. */
  readonly isJson: boolean;
  /** Control characters as they are, also on a terminal. */
  readonly isRaw: boolean;
  readonly reading: OutputOptions;
  /** Stop when the task moves to the background. */
  readonly endsWithForeground?: boolean;
}

/** Prints what a task says, from the log. */
export async function followTask(following: Following): Promise<FollowEnd> {
  const { kernel, context, task, isJson, reading } = following;
  const { isTerminal: isTerminalOf, signal } = context;
  for await (const entry of kernel.tasks.output(task, reading)) {
    const stream = isJson ? "stdout" : streamOf(entry);
    const plain = isJson ? "" : entryText(entry, task);
    const isShown = isTerminalOf[stream] && !following.isRaw;
    const text = isJson ? `${safeJson(entry)}\n` : isShown ? escapeText(plain) : plain;
    if (text !== "") await printTo(context[stream], text, signal);
    const end = endIn(entry, following);
    if (end) return end;
  }
  return "stopped";
}

/** What a program wrote to its error stream goes to ours. */
function streamOf(entry: TaskEntry): "stdout" | "stderr" {
  return entry.kind === "task" && entry.note.type === "output" ? (entry.note.stream ?? "stdout") : "stdout";
}

function endIn(entry: TaskEntry, { task, endsWithForeground }: Following): FollowEnd | undefined {
  if (entry.kind !== "task" || entry.task !== task || entry.note.type !== "moved") return undefined;
  if (isTerminal(entry.note.to)) return "ended";
  return endsWithForeground && entry.note.mode === "background" ? "detached" : undefined;
}
