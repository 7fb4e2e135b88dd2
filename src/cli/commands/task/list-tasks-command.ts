import type { TaskDetails, TaskQuery, TaskRecord, TaskSketch } from "../../../kernel/faces/task.ts";
import { isTerminal, type Json, type Kernel, type TaskState } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { defineCommand } from "../../cli-command.ts";
import { EXIT } from "../../exit-code.ts";
import { findSession } from "../../find-session.ts";
import { parseCountOption } from "../../parse-arguments.ts";
import { getSessionScope } from "../../sessions/session-scope.ts";
import { ACTIVE_STATES, ENDED_STATES, parseStatesOption } from "../../tasks/collect-tasks.ts";
import { describePlace, describeWorktree } from "../../tasks/describe-task-end.ts";
import { findTask } from "../../tasks/find-task.ts";
import {
  formatTaskOwner,
  formatTaskState,
  getCommandLine,
  getTaskTitle,
  toTaskJson,
} from "../../tasks/format-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { choosePaint } from "../../terminal/choose-paint.ts";
import { escapeLine } from "../../terminal/escape.ts";
import { formatCount } from "../../terminal/format-count.ts";
import { formatDollars } from "../../terminal/format-dollars.ts";
import { formatAgo, formatDuration, formatTime } from "../../terminal/format-time.ts";
import type { Paint } from "../../terminal/paint.ts";
import { printJson, printLines } from "../../terminal/print-lines.ts";
import { type Column, renderTable } from "../../terminal/table.ts";
import { padText } from "../../terminal/width.ts";

const LIMIT = { otherwise: 50, max: 1_000 };
const RECENT_MS = 24 * 3_600_000;
const COLUMNS: readonly Column[] = [
  { title: "task", look: "cyan", shrinks: "last" },
  { title: "state" },
  { title: "started" },
  { title: "took", align: "right" },
  { title: "run by", shrinks: "first" },
  { title: "title", shrinks: "first" },
];

export const listTasksCommand = defineCommand({
  name: "task list",
  summary: "list active tasks and tasks that ended within the last day",
  usage: ["task list [options]"],
  options: {
    all: { type: "boolean", help: "also list tasks that ended earlier" },
    state: {
      type: "string",
      value: "STATE",
      help: "only tasks in these states, comma-separated: queued, running, detaching, completed, failed, killed",
    },
    session: { type: "string", value: "SESSION", help: "only tasks that work in this session" },
    queue: { type: "string", value: "NAME", help: "only tasks of this queue" },
    person: { type: "string", value: "NAME", help: "only tasks of queues that run on behalf of this person" },
    limit: { type: "string", value: "N", help: `maximum tasks to list (default: ${LIMIT.otherwise})` },
  },
  maxOperands: 0,
  examples: [
    "longhaul task list",
    "longhaul task list --state running,queued --json",
    "longhaul task list --queue builds --person ada",
    "longhaul task list --all --session ticket-4711",
  ],
  async run(context, { options }) {
    const limit = parseCountOption("limit", options.limit, LIMIT);
    const states = options.state === undefined ? undefined : parseStatesOption(options.state);
    await using kernel = await openExistingTasks(context, options);
    const session =
      options.session === undefined
        ? {}
        : { session: await findSession(kernel, options.session, getSessionScope(context, options)) };
    const { queue, person } = options;
    const place = dropUndefined({ queue, person });
    const oldest = options.all || states ? 0 : Date.now() - RECENT_MS;
    const sketches = await findTaskSketches(
      kernel,
      { limit, ...session, ...place },
      states ?? [...ACTIVE_STATES, ...ENDED_STATES],
      oldest,
    );
    if (options.json) {
      await printJson(context, { tasks: sketches.map(toTaskJson) });
      return EXIT.fine;
    }
    const paint = choosePaint(context, options);
    const hint = options.all || states ? "No tasks." : "No tasks; --all also lists tasks that ended earlier.";
    const lines =
      sketches.length === 0
        ? [hint]
        : renderTable(COLUMNS, sketches.map(buildRow), { width: context.columns.stdout, paint });
    await printLines(context, lines);
    const hasDead = sketches.some(
      ({ status, isOwned }) => status.owner && !isOwned && !isTerminal(status.state),
    );
    if (hasDead && !options.quiet)
      context.stderr.write(
        'longhaul: the processes of some tasks are dead; run "longhaul task gc" to clean up\n',
      );
    return EXIT.fine;
  },
});

/**
 * Finds unsettled tasks before settled ones, whatever their age, and sorts the result by creation time, newest first.
 */
async function findTaskSketches(
  kernel: Kernel,
  query: Pick<TaskQuery, "limit" | "session" | "queue" | "person">,
  states: readonly TaskState[],
  oldest: number,
): Promise<readonly TaskSketch[]> {
  const among = (some: readonly TaskState[]) => {
    const wanted = some.filter((state) => states.includes(state));
    return wanted.length === 0 ? [] : kernel.tasks.list({ ...query, states: wanted });
  };
  const active = await among(ACTIVE_STATES);
  const ended = (await among(ENDED_STATES)).filter(({ settledAt = 0 }) => settledAt >= oldest);
  const tasks = [...active, ...ended].slice(0, query.limit);
  tasks.sort((one, other) => other.createdAt - one.createdAt);
  return Promise.all(tasks.map(({ id }) => kernel.tasks.sketch(id)));
}

function buildRow(sketch: TaskSketch): readonly string[] {
  const { status, plan } = sketch;
  const { id, createdAt, settledAt } = status;
  const now = Date.now();
  const took = formatDuration((settledAt ?? now) - createdAt);
  return [
    id,
    formatTaskState(status),
    formatAgo(createdAt, now),
    took,
    formatTaskOwner(sketch),
    getTaskTitle(plan),
  ];
}

const MAX_CHILDREN = 1_000;

/** Shows all details of a task. */
export const showTaskCommand = defineCommand({
  name: "task show",
  summary: "show all details of a task",
  usage: ["task show <task>"],
  options: {},
  maxOperands: 1,
  examples: ["longhaul task show npm-3f9a12cd", "longhaul task show npm --json | jq .task.notice.facts"],
  async run(context, { operands: [wanted], options }) {
    await using kernel = await openExistingTasks(context, options);
    const id = await findTask(kernel, wanted);
    const details = await kernel.tasks.describe(id);
    const children = await kernel.tasks.list({ parent: id, limit: MAX_CHILDREN });
    if (options.json) {
      const { plan, place, spent, notice } = details;
      const task = { ...toTaskJson(details), plan, place, spent, notice };
      const below = children.map(({ id: child, state }) => ({ id: child, state }));
      await printJson(context, { task, children: below });
    } else await printLines(context, renderTaskDetails(details, children, choosePaint(context, options)));
    return EXIT.fine;
  },
});

type DetailRow = readonly [name: string, value: string];

/** Formats all details of a task, one per line. */
function renderTaskDetails(
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
