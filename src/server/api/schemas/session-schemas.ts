import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { metaSchema, timeSchema } from "./common-schemas.ts";
import { entrySchema, messageSchema } from "./entry-schemas.ts";
import { totalsSchema } from "./usage-schemas.ts";

export const sessionSchema = defineSchema(
  "Session",
  z.object({
    id: z.string(),
    title: z.string().optional(),
    agent: about(z.string().optional(), "The agent of the conversation, such as codex."),
    project: about(z.string().optional(), "Name of the working folder."),
    kind: about(
      z.string(),
      '"main" for a conversation; "agent" for a sub-agent; "task" for the log of a task that works in no conversation; "memory" for memories; other words for requests that a client makes for itself, such as "title".',
    ),
    task: about(z.string().optional(), "The task that the session was made for."),
    parent: z.string().optional(),
    relation: z.enum(["child", "fork"]).optional(),
    createdAt: timeSchema,
    entries: about(z.number().int(), "Number of entries in the log."),
    lastEntryAt: timeSchema.optional(),
    usedAt: about(
      timeSchema.optional(),
      "Time of the last message, else of the creation: imported conversations keep their own times. Absent if the request has usage=false.",
    ),
    isWriting: about(z.boolean(), "True while a message is being written."),
    model: about(z.string().optional(), "The model of the last call."),
    usage: about(totalsSchema.optional(), "Absent if the request has usage=false."),
    saved: about(
      z.object({ savedCost: z.number(), withoutCost: z.number() }).optional(),
      "Estimated savings of edits that were made, with their denominator; absent if nothing was edited.",
    ),
    wouldSave: about(
      z.number().optional(),
      "US dollars that the default policy would have saved: the share that its replay saves, of what its prompts cost; absent until it is replayed, without a price, and if edits were made.",
    ),
    lastRequest: about(
      z
        .object({
          at: timeSchema,
          promptTokens: about(z.number(), "Input, cache reads and cache writes together."),
          cachedTokens: about(z.number(), "Tokens that were read from a cache."),
          window: about(z.number().nullable(), "Window of the model; null if it is not known."),
        })
        .optional(),
      "The latest reported request of the active line; absent if none was reported.",
    ),
    resume: about(
      z.string().optional(),
      "The command with which its agent continues the conversation, for a POSIX shell.",
    ),
    meta: metaSchema.optional(),
  }),
  "One conversation.",
);

export const sessionPageSchema = defineSchema(
  "SessionPage",
  z.object({
    sessions: z.array(sessionSchema),
    before: about(z.string().optional(), "Value of `before` for the next page; absent on the last page."),
  }),
);

export const entryPageSchema = defineSchema(
  "EntryPage",
  z.object({
    entries: about(z.array(entrySchema), "Oldest first."),
    before: about(z.string().optional(), "Cursor of the page with older entries; absent on the oldest page."),
    after: about(
      z.string().optional(),
      "Cursor of the page with newer entries, including those appended later.",
    ),
  }),
);

export const draftSchema = defineSchema(
  "Draft",
  z.object({ id: z.string(), at: timeSchema, message: messageSchema }),
  "A message that is being written.",
);
