import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { seqSchema, timeSchema } from "./common-schemas.ts";
import { messageSchema, overlayFields } from "./entry-schemas.ts";
import { comparisonSchema, editSchema, receiptSchema, removedContentSchema } from "./receipt-schemas.ts";

const breakdownSchema = defineSchema(
  "WindowParts",
  z.object({
    system: z.number(),
    tools: z.number(),
    memories: z.number(),
    pins: z.number(),
    summaries: z.number(),
    recalled: z.number(),
    history: z.number(),
    reserved: z.number(),
    free: z.number(),
  }),
  "Tokens of a window by purpose.",
);

const limitsSchema = defineSchema(
  "WindowLimits",
  z.object({
    window: z.number(),
    reserve: z.number(),
    most: about(z.number(), "Maximum tokens of a request."),
    from: about(
      z.number(),
      "Size from which content that can be fetched again leaves at the latest; words leave only above `most`.",
    ),
    messages: z.number().optional(),
  }),
);

const plannedEditSchema = defineSchema(
  "PlannedEdit",
  z.object({
    overlay: about(seqSchema.optional(), "Seq of the overlay; absent for a dry run."),
    reason: z.string(),
    receipt: receiptSchema,
  }),
);

const slotSchema = defineSchema(
  "Slot",
  z.object({
    entry: about(z.string().nullable(), "Id of the entry; null for a summary or an extract."),
    seq: about(z.number(), "Place on the line."),
    at: timeSchema,
    tokens: z.number(),
    isEdited: about(z.boolean(), "True if the message differs from the logged one."),
    message: messageSchema,
  }),
  "One message of a window.",
);

export const windowSchema = defineSchema(
  "Window",
  z.object({
    session: z.string(),
    model: about(
      z.string().nullable(),
      "Null if neither the session nor the request names one; facts are assumed.",
    ),
    policy: z.string(),
    tokens: about(z.number(), "Tokens of the request, as the provider is expected to count them."),
    messages: about(z.number().int(), "Number of messages."),
    parts: breakdownSchema,
    limits: limitsSchema,
    cache: z.enum(["hot", "cold", "unknown"]),
    pins: z.array(z.object({ entry: z.string(), seq: seqSchema, text: z.string() })),
    held: about(
      z.array(
        z.object({
          revert: about(
            z.object({ session: z.string(), seq: seqSchema }),
            "Reverting it releases the content.",
          ),
          messages: z.number().int(),
          tokens: z.number(),
          messagesLeft: about(z.number().int(), "Messages of it that the limit has forced out."),
        }),
      ),
      "What a person brought back by taking an edit back: it leaves only if the limit forces it, and last.",
    ),
    advice: about(
      z
        .object({
          settledTokens: about(z.number(), "Tokens that no later edit can remove."),
          share: about(z.number(), "Their share of the window."),
          carryOver: about(z.string(), "A summary of the window, to begin the new conversation with."),
        })
        .nullable(),
      "Set if a new conversation is advised, because at least 70 % of the window can never leave it.",
    ),
    memories: z.array(z.object({ id: z.string(), text: z.string() })),
    plan: about(plannedEditSchema.nullable(), "The edit of the next call; only with `plan=true`.").optional(),
    slots: about(z.array(slotSchema), "The messages; only with `slots=true`.").optional(),
  }),
  "The window of the next call.",
);

export const fittedSchema = defineSchema(
  "FittedWindow",
  z.object({
    session: z.string(),
    model: z.string(),
    format: z.string(),
    messages: about(z.array(z.unknown()), "Messages to send, in the requested format."),
    system: about(
      z.unknown().optional(),
      "Lead of the request, if the format keeps it apart from the messages.",
    ),
    memories: about(z.string().optional(), "Section for the system prompt."),
    tokens: z.number(),
    limits: limitsSchema,
    maxOutputTokens: z.number().optional(),
    plan: plannedEditSchema.nullable(),
  }),
);

export const overlaySchema = defineSchema(
  "Overlay",
  z.object({
    overlay: z.string(),
    session: z.string(),
    seq: seqSchema,
    at: timeSchema,
    type: z.enum(["replace", "hide", "summarize", "plan", "revert"]),
    isHolding: about(z.boolean(), "True while the overlay is in effect."),
    holdingEdits: about(z.array(z.number().int()), "Indexes of the edits of a plan that are in effect."),
    edits: about(z.number().int(), "Number of single edits."),
    edit: about(editSchema, "The edit itself; only for one overlay.").optional(),
    ...overlayFields,
  }),
  "An edit of the window, with its receipt.",
);

const changeSchema = defineSchema(
  "WindowChange",
  z.object({
    type: z.enum(["stays", "leaves", "changes", "comes"]),
    place: z.string(),
    before: messageSchema.optional(),
    after: messageSchema.optional(),
  }),
);

export const compactionSchema = defineSchema(
  "Compaction",
  z.object({
    session: z.string(),
    isChanged: about(z.boolean(), "True if the summary is in effect."),
    result: z
      .object({
        overlay: seqSchema.optional(),
        rung: z.enum(["model", "fallback", "extractive", "truncation"]),
        summary: z.string(),
        failed: z.array(z.object({ rung: z.string(), reason: z.string() })),
        tokens: comparisonSchema,
        left: removedContentSchema,
        cost: z.number().optional(),
        changes: about(
          z.array(changeSchema),
          "The window before and after; messages that stay are left out.",
        ),
      })
      .nullable(),
  }),
  "A summary of older messages; `result` is null if nothing was added since the last one.",
);

export const revertSchema = defineSchema(
  "Revert",
  z.object({
    session: z.string(),
    by: about(seqSchema.nullable(), "Seq of the new overlay; null if there was nothing to revert."),
    isChanged: z.boolean(),
    isHeld: about(z.boolean(), "True if something came back; it stays until the limit forces it out."),
    tokens: z.object({ before: z.number(), after: z.number() }),
    messages: z.object({ before: z.number(), after: z.number() }),
  }),
);
