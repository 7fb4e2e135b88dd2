import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";

const countsSchema = defineSchema("ImportTotals", z.looseObject({}), "Counts of an import.");

const replayScore = z.object({
  requests: z.number().int(),
  cost: about(z.number(), "In input tokens: cache writes and reads at their prices."),
  sentTokens: z.number(),
  peakTokens: z.number(),
  edits: z.number().int(),
  refetch: about(
    z.object({ facts: z.number().int(), calls: z.number(), tokens: z.number(), cost: z.number() }),
    "Estimated cost of fetching again what replies needed and the window had lost; not part of `cost`.",
  ),
});
const retention = z.object({ used: z.number(), kept: z.number() });
const pointSchema = z.object({ at: timeSchema, tokens: z.number(), isEdited: z.boolean() });

const replaySchema = defineSchema(
  "Replay",
  z.object({
    session: z.string(),
    window: z.number().int(),
    messages: z.number().int(),
    unbounded: replayScore
      .extend({ editTexts: retention, paths: retention, identifiers: retention, lines: retention })
      .optional(),
    policies: z.array(
      replayScore.extend({
        policy: z.string(),
        costShare: about(z.number(), "Cost relative to that of an unlimited window."),
        fullCostShare: about(z.number(), "The same with the estimated cost of fetching lost content again."),
        editTexts: about(
          z.number(),
          "Share of the agent's edits whose old text was still in the window, of those it had been shown.",
        ),
        paths: about(z.number(), "The same for the files that its calls name."),
        identifiers: about(z.number(), "Share of the used identifiers that were still in the window."),
        lines: z.number(),
        curve: about(
          z.array(pointSchema),
          "Size of the window at each request, thinned to at most 2,000 points.",
        ),
      }),
    ),
  }),
  "A conversation under other policies.",
);

const importSchema = defineSchema(
  "Import",
  z.object({
    stage: about(
      z.enum(["running", "indexing", "done", "stopped", "failed"]),
      "Entries are indexed at the end.",
    ),
    progress: z
      .object({
        index: z.number().int(),
        count: z.number().int(),
        path: z.string(),
        bytesRead: z.number(),
        totalBytes: z.number(),
        messages: z.number().int(),
      })
      .optional(),
    indexed: about(z.number().optional(), "Share of the new entries that are indexed."),
    embedded: about(z.number().optional(), "Share of the new chunks that have vectors."),
    totals: countsSchema.optional(),
    formats: z.record(z.string(), countsSchema).optional(),
    problems: z.number().int().optional(),
  }),
);

export const historySchema = defineSchema(
  "History",
  z.object({
    agent: z.string(),
    title: z.string(),
    conversations: z.number().int(),
    notStored: about(z.number().int(), "Conversations of which the store lacks some or all."),
    deletedWithin7Days: about(z.number().int(), "Of these, how many the agent deletes within 7 days."),
    deletedWithin30Days: z.number().int(),
    retention: z.object({
      days: about(
        z.number().optional(),
        "Days without a change after which the agent deletes a conversation.",
      ),
      mostPerProject: z.number().int().optional(),
      rule: z.string(),
    }),
  }),
  "The conversations of one agent on the gateway's machine.",
);

export const jobSchema = defineSchema(
  "Job",
  z.object({
    id: z.string(),
    type: z.enum(["replay", "import", "index"]),
    state: z.enum(["running", "done", "stopped", "failed"]),
    startedAt: timeSchema,
    endedAt: timeSchema.optional(),
    replay: replaySchema.optional(),
    import: importSchema.optional(),
    index: z
      .object({
        indexed: about(z.number(), "Share of the entries that were not indexed."),
        embedded: about(z.number(), "Share of the chunks without vectors."),
      })
      .optional(),
    error: z.object({ code: z.string(), message: z.string(), remedy: z.string() }).optional(),
  }),
  "Work that outlives its request.",
);
