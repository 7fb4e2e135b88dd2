import { z } from "zod";
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
    spent: z.object({ tokens: z.number(), dollars: z.number(), steps: z.number() }),
    notice: z.looseObject({ id: z.string(), state: z.string() }).optional(),
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
