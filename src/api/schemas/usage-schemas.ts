import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";

export const totalsSchema = defineSchema(
  "UsageTotals",
  z.object({
    requests: z.number().int(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
    cacheWriteHourTokens: z.number(),
    reasoningTokens: z.number(),
    cost: about(z.number(), "US dollars of the requests whose price is known."),
    unpricedRequests: about(z.number().int(), "Requests whose price is unknown; `cost` excludes them."),
  }),
);

export const GROUPING_NAMES = ["day", "model", "session", "project", "agent"] as const;

export const usageReportSchema = defineSchema(
  "UsageReport",
  z.object({
    by: z.enum(GROUPING_NAMES),
    rows: z.array(
      z.object({
        name: about(
          z.string(),
          'Day in UTC, model, session, project or agent; "(unknown)" where none is known.',
        ),
        title: z.string().optional(),
        totals: totalsSchema,
        cacheShare: about(z.number().nullable(), "Share of the prompt tokens that were read from a cache."),
      }),
    ),
    total: totalsSchema,
    cacheShare: z.number().nullable(),
    sessions: about(z.number().int(), "Conversations with reported usage."),
    saved: about(
      z
        .object({
          since: timeSchema,
          tokens: z.number(),
          cost: about(z.number(), "US dollars; negative while edits have not paid off."),
          basis: z.literal("estimated"),
        })
        .nullable(),
      "Savings by edits since the gateway started; null for people who see only their own conversations.",
    ),
  }),
);

export const requestUsageSchema = defineSchema(
  "RequestUsage",
  z.object({
    seq: z.number().int(),
    at: timeSchema,
    model: z.string().optional(),
    request: z.string().optional(),
    promptTokens: about(z.number(), "Input, cache reads and cache writes together: the size of the window."),
    cacheShare: z.number().nullable(),
    totals: totalsSchema,
  }),
  "One report of usage.",
);
