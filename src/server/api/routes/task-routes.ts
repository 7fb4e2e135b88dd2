import { z } from "zod";
import type { TaskRecord, TaskSketch } from "../../../kernel/faces/task.ts";
import type { Entry, TaskNotice, TaskState } from "../../../kernel/index.ts";
import { LonghaulError } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { parseOwner } from "../../../model/base/owner.ts";
import { type ApiCaller, isVisibleTo } from "../core/api-caller.ts";
import { about } from "../core/named-schema.ts";
import { requireRecord } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute, defineStream, type RouteCall } from "../core/route.ts";
import type { StreamEvent } from "../core/send-reply.ts";
import { limitQuery, sessionIdSchema } from "../schemas/common-schemas.ts";
import { entrySchema } from "../schemas/entry-schemas.ts";
import { queryList, queryNumber } from "../schemas/query-values.ts";
import {
  noticeSchema,
  STATE_NAMES,
  taskDetailsSchema,
  taskOutputSchema,
  taskSchema,
} from "../schemas/task-schemas.ts";

const tag = "Tasks";
const PAGE_TASKS = 200;
const taskParams = z.strictObject({ task: z.string().min(1).max(256) });

/** The status of a person's task; throws TASK_NOT_FOUND for a task of somebody else too. */
async function requireTask({ services: { kernel }, caller }: RouteCall, id: string) {
  const status = await kernel.tasks.status(id);
  if (isOwnTask(caller, status)) return status;
  throw new LonghaulError("TASK_NOT_FOUND", `There is no task ${JSON.stringify(id)}.`, {
    details: { task: id },
  });
}

function isOwnTask(caller: ApiCaller, { session, parentSession }: TaskRecord): boolean {
  return isVisibleTo(caller, session) || (parentSession !== undefined && isVisibleTo(caller, parentSession));
}

function toTaskJson({ status, plan, isOwned }: TaskSketch) {
  const { id, session, parent, parentSession, agent, state, mode, canResume, resumes } = status;
  const { createdAt, settledAt, deadlineAt, outcome, queue, person, owner } = status;
  return {
    id,
    session,
    parent,
    parentSession,
    agent,
    ...dropUndefined({ title: plan?.title }),
    state,
    mode,
    queue,
    person,
    ...(owner !== undefined && { worker: parseOwner(owner) }),
    isOwned,
    canResume,
    resumes,
    createdAt,
    settledAt,
    deadlineAt,
    ...dropUndefined({ outcome }),
  };
}

const listTasks = defineRoute(
  {
    id: "listTasks",
    method: "GET",
    path: "/tasks",
    tag,
    summary: "List tasks, newest first",
    query: z.strictObject({
      limit: limitQuery(50, 200),
      before: about(z.string().optional(), "Only tasks older than this one."),
      state: about(queryList(z.enum(STATE_NAMES)).optional(), "States, separated by commas."),
      session: about(sessionIdSchema.optional(), "Only tasks that work in this session."),
      parent: about(z.string().optional(), "Only children of this task."),
      queue: about(z.string().min(1).max(60).optional(), "Only tasks of this queue."),
      person: about(
        z.string().min(1).max(256).optional(),
        "Only tasks of queues that run on behalf of this person.",
      ),
    }),
    reply: z.object({ tasks: z.array(taskSchema), before: z.string().optional() }),
    errors: ["TASK_NOT_FOUND", "SESSION_NOT_FOUND"],
  },
  async (call) => {
    const { services, caller, query } = call;
    const { kernel } = services;
    if (query.before !== undefined) await requireTask(call, query.before);
    if (query.parent !== undefined) await requireTask(call, query.parent);
    const session =
      query.session === undefined ? undefined : (await requireRecord(kernel, caller, query.session)).id;
    const found: TaskRecord[] = [];
    for (let before = query.before; found.length <= query.limit; ) {
      const page = await kernel.tasks.list({
        limit: PAGE_TASKS,
        ...dropUndefined({ before }),
        ...(query.state && { states: query.state as readonly TaskState[] }),
        ...dropUndefined({ session, parent: query.parent, queue: query.queue, person: query.person }),
      });
      found.push(...page.filter((task) => isOwnTask(caller, task)));
      before = page.at(-1)?.id;
      if (page.length < PAGE_TASKS) break;
    }
    const shown = found.slice(0, query.limit);
    const tasks: ReturnType<typeof toTaskJson>[] = [];
    for (const { id } of shown) tasks.push(toTaskJson(await kernel.tasks.sketch(id)));
    const last = shown.at(-1)?.id;
    return { tasks, ...(found.length > query.limit && last !== undefined && { before: last }) };
  },
);

const getTask = defineRoute(
  {
    id: "getTask",
    method: "GET",
    path: "/tasks/{task}",
    tag,
    summary: "Show one task with its input, place, state history, usage and notice",
    params: taskParams,
    reply: taskDetailsSchema,
    errors: ["TASK_NOT_FOUND"],
  },
  async (call) => {
    await requireTask(call, call.params.task);
    const { place, spent, notice, moves, ...sketch } = await call.services.kernel.tasks.describe(
      call.params.task,
    );
    const { input, isolation } = sketch.plan ?? {};
    return {
      ...toTaskJson(sketch),
      input,
      isolation,
      ...(place !== undefined && { place, ...findWorktree(place) }),
      moves,
      spent,
      ...(notice && { notice: { ...notice } }),
    };
  },
);

/** The worktree in a place; nothing for a place of another kind. */
function findWorktree(place: unknown) {
  const { path, branch, repository } = Object(place) as Readonly<Record<string, unknown>>;
  const isWorktree = typeof path === "string" && typeof branch === "string" && typeof repository === "string";
  return isWorktree ? { worktree: { path, branch, repository } } : {};
}

const listNotices = defineRoute(
  {
    id: "listNotices",
    method: "GET",
    path: "/notices",
    tag,
    summary: "List the notices of ended tasks, those of the newest tasks first",
    query: z.strictObject({
      limit: limitQuery(50, 200),
      before: about(z.string().optional(), "Only notices of tasks older than this one."),
    }),
    reply: z.object({ notices: z.array(noticeSchema), before: z.string().optional() }),
    errors: ["TASK_NOT_FOUND"],
  },
  async (call) => {
    const { services, caller, query } = call;
    if (query.before !== undefined) await requireTask(call, query.before);
    const found: TaskNotice[] = [];
    for (let { before } = query; found.length <= query.limit; ) {
      const page = await services.kernel.tasks.notices({ limit: PAGE_TASKS, ...dropUndefined({ before }) });
      for (const notice of page)
        if (isOwnTask(caller, await services.kernel.tasks.status(notice.task))) found.push(notice);
      before = page.at(-1)?.task;
      if (page.length < PAGE_TASKS) break;
    }
    const notices = found.slice(0, query.limit);
    const last = notices.at(-1)?.task;
    const next = found.length > query.limit && last !== undefined ? { before: last } : {};
    return { notices: notices.map((notice) => ({ ...notice, facts: { ...notice.facts } })), ...next };
  },
);

const readTaskOutput = defineRoute(
  {
    id: "readTaskOutput",
    method: "GET",
    path: "/tasks/{task}/output",
    tag,
    summary: "Read the entries of a task",
    params: taskParams,
    query: z.strictObject({
      since: about(queryNumber(0).default(0), "Only entries after this seq."),
      limit: limitQuery(100, 1_000),
    }),
    reply: taskOutputSchema,
    errors: ["TASK_NOT_FOUND"],
  },
  async (call) => {
    const { since, limit } = call.query;
    const status = await requireTask(call, call.params.task);
    const entries: Entry[] = [];
    let hasMore = false;
    for await (const entry of call.services.kernel.tasks.output(status.id, { since, signal: call.signal })) {
      hasMore = entries.length === limit;
      if (hasMore) break;
      entries.push(entry);
    }
    return { task: status.id, state: status.state, entries, since: entries.at(-1)?.seq ?? since, hasMore };
  },
);

const followTask = defineStream(
  {
    id: "followTask",
    method: "GET",
    path: "/tasks/{task}/tail",
    tag,
    summary: "Follow the entries of a task as server-sent events until it ends",
    params: taskParams,
    query: z.strictObject({ since: about(queryNumber(0).optional(), "Only entries after this seq.") }),
    events: { entry: entrySchema, end: z.object({ state: z.enum(STATE_NAMES) }) },
    errors: ["TASK_NOT_FOUND"],
  },
  async (call) => {
    const { id } = await requireTask(call, call.params.task);
    const { lastEventId, signal } = call;
    const last =
      lastEventId !== undefined && /^\d{1,10}$/.test(lastEventId) ? Number(lastEventId) : undefined;
    return followOutput(call, id, last ?? call.query.since ?? 0, signal);
  },
);

async function* followOutput(
  { services: { kernel } }: RouteCall,
  id: string,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  for await (const entry of kernel.tasks.output(id, { block: true, since, signal }))
    yield { id: String(entry.seq), event: "entry", data: entry };
  if (!signal.aborted) yield { event: "end", data: { state: (await kernel.tasks.status(id)).state } };
}

const killTask = defineRoute(
  {
    id: "killTask",
    method: "POST",
    path: "/tasks/{task}/kill",
    tag,
    summary: "End a task and its children; output and results are kept",
    params: taskParams,
    body: z.strictObject({ reason: z.string().min(1).max(200).default("asked") }),
    reply: taskSchema,
    errors: ["TASK_NOT_FOUND", "TASK_CONFLICT"],
  },
  async (call) => {
    const { id } = await requireTask(call, call.params.task);
    await call.services.kernel.tasks.kill(id, call.body.reason);
    return toTaskJson(await call.services.kernel.tasks.sketch(id));
  },
);

const killTasks = defineRoute(
  {
    id: "killTasks",
    method: "POST",
    path: "/tasks/kill",
    tag,
    summary: "End all tasks of the caller, or those of a parent, a queue or a session; each gets one notice",
    body: z.strictObject({
      session: about(sessionIdSchema.optional(), "Only tasks that work in this session."),
      parent: about(z.string().optional(), "Only children of this task."),
      queue: about(z.string().min(1).max(60).optional(), "Only tasks of this queue."),
      reason: z.string().min(1).max(200).default("asked"),
    }),
    reply: z.object({ tasks: z.array(taskSchema) }),
    errors: ["TASK_NOT_FOUND", "SESSION_NOT_FOUND"],
  },
  async (call) => {
    const { services, caller, body } = call;
    const { kernel } = services;
    const { session, parent, queue, reason } = body;
    if (parent !== undefined) await requireTask(call, parent);
    const killed = await kernel.tasks.killAll(
      {
        ...(session !== undefined && { session: (await requireRecord(kernel, caller, session)).id }),
        ...dropUndefined({ parent, queue }),
        where: (task) => isOwnTask(caller, task),
      },
      reason,
    );
    const tasks: ReturnType<typeof toTaskJson>[] = [];
    for (const { id } of killed) tasks.push(toTaskJson(await kernel.tasks.sketch(id)));
    return { tasks };
  },
);

const detachTask = defineRoute(
  {
    id: "detachTask",
    method: "POST",
    path: "/tasks/{task}/detach",
    tag,
    summary: "Move a running task to the background",
    params: taskParams,
    body: z.strictObject({}),
    reply: taskSchema,
    errors: ["TASK_NOT_FOUND", "TASK_CONFLICT"],
  },
  async (call) => {
    const { id } = await requireTask(call, call.params.task);
    await call.services.kernel.tasks.detach(id);
    return toTaskJson(await call.services.kernel.tasks.sketch(id));
  },
);

export const TASK_ROUTES = [
  listTasks,
  getTask,
  readTaskOutput,
  followTask,
  killTask,
  killTasks,
  detachTask,
  listNotices,
] as const satisfies readonly ApiRoute[];
