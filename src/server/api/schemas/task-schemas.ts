import { z } from "zod";
import { TASK_EVENTS } from "../../../model/task.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";
import { entrySchema } from "./entry-schemas.ts";

export const STATE_NAMES = ["queued", "running", "detaching", "completed", "failed", "killed"] as const;

const outcomeSchema = defineSchema(
  "TaskOutcome",
  z.object({
    state: z.enum(["completed", "failed", "killed"]),
    reason: z.string().optional(),
    error: z.string().optional(),
    result: z.unknown().optional(),
    isResultOmitted: z.literal(true).optional(),
  }),
);

export const taskSchema = defineSchema(
  "Task",
  z.object({
    id: z.string(),
    session: about(z.string(), "The session that the task works in."),
    parent: z.string().optional(),
    parentSession: z.string().optional(),
    agent: z.string(),
    title: z.string().optional(),
    state: z.enum(STATE_NAMES),
    mode: z.enum(["foreground", "background"]),
    queue: about(z.string().optional(), "The queue in which the task waits, or waited, for a worker."),
    person: about(z.string().optional(), "On whose behalf a task of a queue runs; limits count by it."),
    worker: about(
      z.object({ host: z.string(), pid: z.number().int() }).optional(),
      "The process that runs the task, or ran it last; absent while it waits.",
    ),
    isOwned: about(z.boolean(), "True if a live process runs the task or cleans up after it."),
    canResume: z.boolean(),
    resumes: z.number().int(),
    createdAt: timeSchema,
    settledAt: timeSchema.optional(),
    deadlineAt: timeSchema.optional(),
    outcome: outcomeSchema.optional(),
  }),
  "One run of an agent.",
);

const moveSchema = z.object({
  at: timeSchema,
  event: about(z.enum(TASK_EVENTS).optional(), "Absent for the creation."),
  from: z.enum(STATE_NAMES).optional(),
  to: z.enum(STATE_NAMES),
  mode: z.enum(["foreground", "background"]).optional(),
  reason: z.string().optional(),
});

export const noticeSchema = defineSchema(
  "TaskNotice",
  z.looseObject({
    id: z.string(),
    task: z.string(),
    agent: z.string(),
    title: z.string().optional(),
    session: z.string(),
    state: z.enum(["completed", "failed", "killed"]),
    settledAt: timeSchema,
    reason: z.string().optional(),
    error: z.string().optional(),
    facts: about(z.record(z.string(), z.unknown()).optional(), "Such as the verdict on the worktree."),
  }),
  "The message that is sent when a task has ended.",
);

export const taskDetailsSchema = defineSchema(
  "TaskDetails",
  z.object({
    ...taskSchema.shape,
    input: z.unknown().optional(),
    isolation: z.string().optional(),
    place: about(
      z.unknown().optional(),
      "Where the task works, such as a worktree with its path and branch.",
    ),
    worktree: about(
      z.object({ path: z.string(), branch: z.string(), repository: z.string() }).optional(),
      "The worktree of a task that has one.",
    ),
    moves: about(z.array(moveSchema), "Changes of its state, oldest first."),
    spent: z.object({ tokens: z.number(), dollars: z.number(), steps: z.number() }),
    notice: noticeSchema.optional(),
  }),
);

export const taskOutputSchema = defineSchema(
  "TaskOutput",
  z.object({
    task: z.string(),
    state: z.enum(STATE_NAMES),
    entries: z.array(entrySchema),
    since: about(z.number().int(), "Value of `since` for the next page."),
    hasMore: z.boolean(),
  }),
);
