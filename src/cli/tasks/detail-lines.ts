import type { Json, TaskDetails, TaskRecord } from "../../index.ts";
import { formatDuration, formatTime } from "../ago.ts";
import { formatCount } from "../count.ts";
import { formatDollars } from "../dollars.ts";
import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { padTo } from "../width.ts";
import { placeWords, worktreeWords } from "./last-words.ts";
import { commandLineOf, ownerWords, stateWords, titleOf } from "./words.ts";

type Row = readonly [name: string, value: string];

/** Formats all details of a task, one per line. */
export function detailLines(
  details: TaskDetails,
  children: readonly TaskRecord[],
  paint: Paint,
): readonly string[] {
  const rows = [...rowsOf(details), ...children.map((child): Row => ["child", `${child.id} ${child.state}`])];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    paint("bold", escapeLine(details.status.id)),
    ...rows.map(([name, value]) => `  ${paint("dim", padTo(name, width))}  ${escapeLine(value)}`),
  ];
}

function rowsOf(details: TaskDetails): readonly Row[] {
  const { status, plan, place, notice, spent } = details;
  const { outcome, settledAt, createdAt, deadlineAt } = status;
  const took = formatDuration((settledAt ?? Date.now()) - createdAt);
  const { worktree, ...facts } = notice?.facts ?? {};
  return [
    ["title", titleOf(plan)],
    ...optional("command", plan?.title === undefined ? undefined : commandLineOf(plan)),
    ["state", stateWords(status)],
    ...optional("error", outcome?.error),
    ...optional("result", outcome?.result === undefined ? undefined : JSON.stringify(outcome.result)),
    ["agent", status.agent],
    ["mode", status.mode],
    ...optional("run by", ownerWords(details) || undefined),
    ["started", formatTime(createdAt)],
    ...optional("ended", settledAt === undefined ? undefined : formatTime(settledAt)),
    ["took", took],
    ...optional("deadline", deadlineAt === undefined ? undefined : formatTime(deadlineAt)),
    ...optional("resumed", status.resumes > 0 ? `${status.resumes} times` : undefined),
    ...optional(
      "used",
      spent.tokens > 0 || spent.steps > 0
        ? `${formatCount(spent.tokens)} tokens, ${formatDollars(spent.dollars)}, ${formatCount(spent.steps)} steps`
        : undefined,
    ),
    ["session", status.session],
    ...optional("parent", status.parent),
    ...optional("notice in", status.parentSession),
    ...optional("folder", folderOf(place)),
    ...[...placeWords(place), ...worktreeWords(worktree)].map((words): Row => ["worktree", words]),
    ...Object.entries(facts).map(([step, fact]): Row => [step, JSON.stringify(fact)]),
    ["notice", notice ? `${notice.id}, ${status.notice === "done" ? "sent" : "being sent"}` : "not yet"],
  ];
}

function optional(name: string, value: string | undefined): readonly Row[] {
  return value === undefined ? [] : [[name, value]];
}

function folderOf(place: Json | undefined): string | undefined {
  const isObject = typeof place === "object" && place !== null && "folder" in place;
  return isObject && typeof place.folder === "string" ? place.folder : undefined;
}
