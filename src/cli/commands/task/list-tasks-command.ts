import { isTerminal, type Kernel, type TaskState } from "../../../index.ts";
import type { TaskQuery, TaskSketch } from "../../../task-entry.ts";
import { choosePaint } from "../../choose-paint.ts";
import { defineCommand } from "../../cli-command.ts";
import { toSafeJson } from "../../escape.ts";
import { EXIT } from "../../exit-code.ts";
import { findSession } from "../../find-session.ts";
import { formatAgo, formatDuration } from "../../format-time.ts";
import { parseCountOption } from "../../parse-arguments.ts";
import { printLines } from "../../print-lines.ts";
import { printTo } from "../../printer.ts";
import { getSessionScope } from "../../sessions/session-scope.ts";
import { type Column, renderTable } from "../../table.ts";
import { formatTaskOwner, formatTaskState, getTaskTitle, toTaskJson } from "../../tasks/format-task.ts";
import { openExistingTasks } from "../../tasks/open-tasks.ts";
import { ACTIVE_STATES, ENDED_STATES, parseStatesOption } from "../../tasks/task-states.ts";

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
    const place = { ...(queue !== undefined && { queue }), ...(person !== undefined && { person }) };
    const oldest = options.all || states ? 0 : Date.now() - RECENT_MS;
    const sketches = await findTaskSketches(
      kernel,
      { limit, ...session, ...place },
      states ?? [...ACTIVE_STATES, ...ENDED_STATES],
      oldest,
    );
    if (options.json) {
      await printTo(context.stdout, `${toSafeJson({ tasks: sketches.map(toTaskJson) })}\n`);
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
