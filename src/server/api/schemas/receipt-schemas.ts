import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";

const comparison = defineSchema(
  "Comparison",
  z.object({ without: z.number(), with: z.number() }),
  "A figure for the window without and with the edit.",
);

const removedSchema = defineSchema(
  "RemovedContent",
  z.object({
    entries: about(z.number().int(), "Messages that left the window."),
    identifiers: about(z.number().int(), "Identifiers that are no longer in the window."),
    named: about(z.array(z.string()), "The most used of these identifiers."),
  }),
);

export const receiptSchema = defineSchema(
  "Receipt",
  z.object({
    model: z.string(),
    policy: z.string(),
    cache: z.enum(["hot", "cold", "unknown"]),
    isForced: about(z.boolean(), "True if the window would not have fit without the edit."),
    tokens: comparison,
    cachedShare: comparison,
    thisCall: about(comparison, "US dollars for the prompt of this call."),
    nextCalls: about(comparison, "US dollars for the prompt of each following call while the cache is hot."),
    arePricesAssumed: z.literal(true).optional(),
    breakEvenCalls: about(
      z.number().nullable(),
      "Further calls until the edit has paid for itself; null if never.",
    ),
    expectedCalls: z.number(),
    left: removedSchema,
    thinking: about(
      z.object({ replies: z.number().int(), tokens: z.number(), rethinking: z.number() }).optional(),
      "Replies whose thinking the model loses with the edit, its tokens, and US dollars for thinking a part of it again; absent if it loses none.",
    ),
  }),
  "Cost and savings of an edit of the window, and the content that it removed.",
);

export const summaryReceiptSchema = defineSchema(
  "SummaryReceipt",
  z.object({
    by: about(z.string(), '"model", "fallback", "extractive" or "truncation".'),
    cost: about(z.number().optional(), "US dollars for making it, if known."),
    left: removedSchema,
  }),
);

export const removedContentSchema = removedSchema;
export const comparisonSchema = comparison;

/** Edits are the kernel's own JSON; the document names their types and leaves their content open. */
export const editSchema = defineSchema(
  "Edit",
  z.looseObject({ type: z.enum(["replace", "hide", "summarize", "plan", "revert"]) }),
  "One difference between the window and the log.",
);
