import type { Json } from "../../index.ts";
import type { TaskDetails, TaskRecord } from "../../task-entry.ts";
import { escapeLine } from "../escape.ts";
import { formatCount } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import { formatDuration, formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { padText } from "../width.ts";
import { describePlace, describeWorktree } from "./describe-task-end.ts";
import { formatTaskOwner, formatTaskState, getCommandLine, getTaskTitle } from "./format-task.ts";

type DetailRow = readonly [name: string, value: string];

/** Formats all details of a task, one per line. */
export function renderTaskDetails(
  details: TaskDetails,
  children: readonly TaskRecord[],
  paint: Paint,
): readonly string[] {
  const rows = [
    ...buildRows(details),
    ...children.map((child): DetailRow => ["child", `${child.id} ${child.state}`]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    paint("bold", escapeLine(details.status.id)),
    ...rows.map(([name, value]) => `  ${paint("dim", padText(name, width))}  ${escapeLine(value)}`),
  ];
}

function buildRows(details: TaskDetails): readonly DetailRow[] {
  const { status, plan, place, notice, spent } = details;
  const { outcome, settledAt, createdAt, deadlineAt } = status;
  const took = formatDuration((settledAt ?? Date.now()) - createdAt);
  const { worktree, ...facts } = notice?.facts ?? {};
  return [
    ["title", getTaskTitle(plan)],
    ...buildOptionalRow("command", plan?.title === undefined ? undefined : getCommandLine(plan)),
    ["state", formatTaskState(status)],
    ...buildOptionalRow("error", outcome?.error),
    ...buildOptionalRow("result", outcome?.result === undefined ? undefined : JSON.stringify(outcome.result)),
    ["agent", status.agent],
    ["mode", status.mode],
    ...buildOptionalRow("queue", status.queue),
    ...buildOptionalRow("person", status.person),
    ...buildOptionalRow("run by", formatTaskOwner(details) || undefined),
    ["started", formatTime(createdAt)],
    ...buildOptionalRow("ended", settledAt === undefined ? undefined : formatTime(settledAt)),
    ["took", took],
    ...buildOptionalRow("deadline", deadlineAt === undefined ? undefined : formatTime(deadlineAt)),
    ...buildOptionalRow("resumed", status.resumes > 0 ? `${status.resumes} times` : undefined),
    ...buildOptionalRow(
      "used",
      spent.tokens > 0 || spent.steps > 0
        ? `${formatCount(spent.tokens)} tokens, ${formatDollars(spent.dollars)}, ${formatCount(spent.steps)} steps`
        : undefined,
    ),
    ["session", status.session],
    ...buildOptionalRow("parent", status.parent),
    ...buildOptionalRow("notice in", status.parentSession),
    ...buildOptionalRow("folder", getFolder(place)),
    ...[...describePlace(place), ...describeWorktree(worktree)].map(
      (words): DetailRow => ["worktree", words],
    ),
    ...Object.entries(facts).map(([step, fact]): DetailRow => [step, JSON.stringify(fact)]),
    ["notice", notice ? `${notice.id}, ${status.notice === "done" ? "sent" : "being sent"}` : "not yet"],
  ];
}

function buildOptionalRow(name: string, value: string | undefined): readonly DetailRow[] {
  return value === undefined ? [] : [[name, value]];
}

function getFolder(place: Json | undefined): string | undefined {
  const isObject = typeof place === "object" && place !== null && "folder" in place;
  return isObject && typeof place.folder === "string" ? place.folder : undefined;
}
