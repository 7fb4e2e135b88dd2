import { isTerminal, type Kernel, type OutputOptions, type TaskEntry, type TaskId } from "../../index.ts";
import type { Context } from "../context.ts";
import { escapeText, safeJson } from "../escape.ts";
import { printTo } from "../printer.ts";
import { entryText } from "./entry-text.ts";

/** Why following ended: the task ended, moved to the background, or the reader stopped. */
export type FollowEnd = "ended" | "detached" | "stopped";

/** A task to follow and how to print its output. */
export interface Following {
  readonly kernel: Kernel;
  readonly context: Context;
  readonly task: TaskId;
  /** Print each entry as a line of JSON. */
  readonly isJson: boolean;
  /** Print control characters unescaped, even on a terminal. */
  readonly isRaw: boolean;
  readonly reading: OutputOptions;
  /** Return when the task moves to the background. */
  readonly endsWithForeground?: boolean;
}

/** Prints a task's output from the log. */
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

/** The program's stderr goes to our stderr. */
function streamOf(entry: TaskEntry): "stdout" | "stderr" {
  return entry.kind === "task" && entry.note.type === "output" ? (entry.note.stream ?? "stdout") : "stdout";
}

function endIn(entry: TaskEntry, { task, endsWithForeground }: Following): FollowEnd | undefined {
  if (entry.kind !== "task" || entry.task !== task || entry.note.type !== "moved") return undefined;
  if (isTerminal(entry.note.to)) return "ended";
  return endsWithForeground && entry.note.mode === "background" ? "detached" : undefined;
}
