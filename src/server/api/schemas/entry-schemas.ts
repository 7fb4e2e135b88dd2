import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { metaSchema, seqSchema, timeSchema } from "./common-schemas.ts";
import { editSchema, receiptSchema, summaryReceiptSchema } from "./receipt-schemas.ts";

export const ROLE_NAMES = ["system", "user", "assistant", "tool"] as const;
export const KIND_NAMES = [
  "message",
  "notice",
  "line",
  "redacted",
  "usage",
  "overlay",
  "raw",
  "pin",
  "task",
  "damaged",
] as const;

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const reasoningPart = z.object({
  type: z.literal("reasoning"),
  text: z.string(),
  opaque: about(z.unknown().optional(), "The provider's signature or ciphertext."),
});
const callPart = z.object({
  type: z.literal("tool-call"),
  callId: z.string(),
  name: z.string(),
  input: about(z.unknown(), "Any JSON."),
});
const blobPart = z.object({
  type: z.literal("blob"),
  digest: about(z.string(), "SHA-256 of the bytes."),
  sizeBytes: z.number().int(),
  mime: z.string(),
  of: about(
    z.enum(["text", "reasoning", "tool-call", "raw"]).optional(),
    "The type of a part too large for the log.",
  ),
  preview: z.string().optional(),
  shownCharacters: z.number().int().optional(),
  name: z.string().optional(),
  callId: z.string().optional(),
  toolName: z.string().optional(),
});
const rawPart = z.object({ type: z.literal("raw"), format: z.string(), value: z.unknown() });
const resultPart = z.object({
  type: z.literal("tool-result"),
  callId: z.string(),
  name: z.string().optional(),
  isError: z.boolean().optional(),
  output: z.array(z.discriminatedUnion("type", [textPart, blobPart, rawPart])),
});

const partSchema = defineSchema(
  "Part",
  z.discriminatedUnion("type", [textPart, reasoningPart, callPart, resultPart, blobPart, rawPart]),
);

export const messageSchema = defineSchema(
  "Message",
  z.object({
    role: z.enum(ROLE_NAMES),
    parts: z.array(partSchema),
    interrupted: about(z.literal(true).optional(), "Set if the writer died before the end of the message."),
    model: z.string().optional(),
    meta: metaSchema.optional(),
  }),
);

const callCounts = {
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  cacheReadTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  cacheWriteHourTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
  cost: about(z.number().optional(), "US dollars."),
  priceFactor: about(z.number().optional(), "Times the list price, for fast mode, priority or one region."),
  webSearches: about(z.number().optional(), "Searches by the provider's own web tool."),
};

export const usageCountsSchema = defineSchema(
  "UsageCounts",
  z.object({
    ...callCounts,
    otherCalls: about(
      z.array(z.object({ ...callCounts, model: z.string().optional() })).optional(),
      "Calls that the provider made for this one, such as those of an advisor.",
    ),
  }),
  "Tokens and money as a provider reported them. The four counts of input, output and cache do not overlap.",
);

const base = { id: z.string(), session: z.string(), seq: seqSchema, at: timeSchema };
const rangeSchema = z.object({ session: z.string(), from: z.number().int(), to: z.number().int() });

export const overlayFields = {
  author: z.string(),
  reason: z.string(),
  madeAt: timeSchema.optional(),
  tokensBefore: z.number().optional(),
  tokensAfter: z.number().optional(),
  receipt: receiptSchema.optional(),
  summary: summaryReceiptSchema.optional(),
};

export const entrySchema = defineSchema(
  "Entry",
  z.discriminatedUnion("kind", [
    z.object({ ...base, kind: z.literal("message"), message: messageSchema }),
    z.object({
      ...base,
      kind: z.literal("notice"),
      text: z.string(),
      requestEnd: about(
        z
          .object({
            by: z.enum(["client", "longhaul", "provider"]),
            failure: z.string().optional(),
            retries: z.number().int().optional(),
          })
          .optional(),
        "Why a request ended before its reply was whole.",
      ),
    }),
    z.object({
      ...base,
      kind: z.literal("line"),
      ranges: about(z.array(rangeSchema), "The whole line, or with `removed` only its last range."),
      removed: about(z.array(rangeSchema).optional(), "Entries of the previous line that this one lacks."),
      inserted: about(z.array(rangeSchema).optional(), "Entries at the place of the first removed one."),
      reason: z.string(),
      previous: z.number().int(),
      previousEnd: z.number().int(),
      departure: about(z.enum(["taken-back", "trimmed"]).optional(), "Why entries left the line here."),
    }),
    z.object({
      ...base,
      kind: z.literal("redacted"),
      was: z.enum(KIND_NAMES),
      reason: z.string().optional(),
      left: about(messageSchema.optional(), "The remains of a message, which windows show."),
    }),
    z.object({
      ...base,
      kind: z.literal("usage"),
      usage: usageCountsSchema,
      model: z.string().optional(),
      provider: z.string().optional(),
      request: z.string().optional(),
      meta: metaSchema.optional(),
    }),
    z.object({ ...base, kind: z.literal("overlay"), edit: editSchema, ...overlayFields }),
    z.object({
      ...base,
      kind: z.literal("raw"),
      format: z.string(),
      value: z.unknown().optional(),
      blob: z.object({ digest: z.string(), sizeBytes: z.number().int(), mime: z.string() }).optional(),
    }),
    z.object({
      ...base,
      kind: z.literal("pin"),
      target: z.object({ session: z.string(), seq: z.number().int() }),
      isPinned: z.boolean(),
      isErased: about(z.literal(true).optional(), "Its content was erased."),
    }),
    z.object({
      ...base,
      kind: z.literal("task"),
      task: z.string(),
      note: z.looseObject({ type: z.string() }),
    }),
    z.object({
      ...base,
      kind: z.literal("damaged"),
      was: z.enum(KIND_NAMES).optional(),
      problem: z.string(),
    }),
  ]),
  "One immutable record of a session's log.",
);

export const lineSchema = defineSchema(
  "Line",
  z.object({
    seq: about(z.number().int(), "Names the line; 0 is the session's first one."),
    reason: z.string(),
    ranges: z.array(rangeSchema),
    isActive: z.boolean(),
  }),
  "The ranges of entries that count; rewinding changes the line, never the entries.",
);
