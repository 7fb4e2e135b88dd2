import { z } from "zod";
import { SIZE_NAMES } from "../../../kernel/usage/size-sums.ts";
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

/** Estimated savings of edits, with their denominator and their own cost. */
export const savingsSchema = defineSchema(
  "Savings",
  z.object({
    basis: z.literal("estimated"),
    requests: about(z.number().int(), "Requests with an estimate."),
    removedTokens: about(z.number(), "Prompt tokens without edits minus the tokens sent."),
    savedCost: about(
      z.number(),
      "US dollars, less the cost of summaries; negative while edits have not paid off.",
    ),
    withoutCost: about(
      z.number(),
      "Cost of the same requests without edits: the denominator of `savedCost`.",
    ),
    extraWriteTokens: about(z.number(), "Tokens that edits made the provider write to its cache again."),
    extraWriteCost: about(z.number(), "Their cost; `savedCost` includes it."),
    summaryCalls: z.number().int(),
    summaryCost: about(z.number(), "Cost of calls for summaries; `savedCost` includes it."),
    overheadMs: about(z.number(), "Time before these requests were sent."),
    unpricedRequests: about(z.number().int(), "Requests whose price is unknown; the dollars exclude them."),
  }),
  "Nobody has sent the requests without edits, so savings are estimated; a control group measures them.",
);

/** Conversations of one size. */
export const sizeSumSchema = defineSchema(
  "SizeSum",
  z.object({
    name: z.enum(SIZE_NAMES),
    conversations: z.number().int(),
    cost: about(z.number(), "US dollars of their requests."),
    savings: savingsSchema,
  }),
  "Conversations by the tokens of their longest request without edits.",
);

const estimateFields = {
  conversations: about(z.number().int(), "Replayed conversations, sub-agents included."),
  unpriced: about(z.number().int(), "Those without a known price, which the dollars exclude."),
  dollars: about(
    z.number(),
    "US dollars for prompts under the default policy in a window of 200,000 tokens.",
  ),
  unboundedDollars: about(z.number(), "US dollars for the same prompts without edits: the denominator."),
};

/** The cost of recorded conversations under the default policy, as "longhaul replay --all" computes it. */
export const estimateReportSchema = defineSchema(
  "EstimateReport",
  z.object({
    basis: z.literal("replayed"),
    ...estimateFields,
    pending: about(
      z.number().int(),
      "Conversations that are not replayed yet; the figures grow while there are some.",
    ),
    isRunning: about(z.boolean(), "True while conversations are replayed."),
    skipped: about(
      z.number().int(),
      "Conversations too long for the gateway; `longhaul replay --all` replays them.",
    ),
    sizes: about(
      z.array(
        z.object({
          upToTokens: about(z.number().nullable(), "Bound of the largest prompt; null for those above all."),
          ...estimateFields,
        }),
      ),
      "The same by the size of the conversation.",
    ),
  }),
);

const armsSchema = z.object({ control: z.number().int(), edited: z.number().int() });

/** A comparison of edited conversations with those that were left alone. */
export const controlReportSchema = defineSchema(
  "ControlReport",
  z.object({
    basis: z.literal("measured"),
    minConversations: about(
      z.number().int(),
      "Conversations that each arm needs before a difference is worth reading.",
    ),
    groups: z.array(
      z.object({
        agent: about(z.string().nullable(), "Null for all agents."),
        model: about(z.string().nullable(), "Null for all models."),
        conversations: about(armsSchema, "Conversations in each arm: the denominators of the means."),
        isEnough: z.boolean(),
        figures: z.array(
          z.object({
            name: z.enum(["tokens", "cost", "steps", "rereads", "overflows", "corrections"]),
            control: about(z.number(), "Mean per conversation."),
            edited: z.number(),
            difference: about(z.number(), "Edited minus control."),
            low: about(z.number(), "Lower end of the 95 % interval of the difference."),
            high: z.number(),
          }),
        ),
      }),
    ),
  }),
);

export const GROUPING_NAMES = ["day", "model", "session", "project", "agent", "person"] as const;

export const usageReportSchema = defineSchema(
  "UsageReport",
  z.object({
    by: z.enum(GROUPING_NAMES),
    rows: z.array(
      z.object({
        name: about(
          z.string(),
          'Day in UTC, model, session, project, agent or person; "(unknown)" where none is known.',
        ),
        title: z.string().optional(),
        totals: totalsSchema,
        cacheShare: about(z.number().nullable(), "Share of the prompt tokens that were read from a cache."),
        saved: about(
          z.object({ savedCost: z.number(), withoutCost: z.number() }).nullable(),
          "Estimated savings of edits with their denominator; null by model and for one model, where none are known.",
        ),
        wouldSave: about(
          z.number().nullable(),
          "US dollars that the default policy would have saved on conversations without edits: the share that their replays save, of what their prompts cost; null while none is replayed.",
        ),
      }),
    ),
    total: totalsSchema,
    cacheShare: z.number().nullable(),
    sessions: about(
      z.number().int(),
      "Conversations; of some days or one model, those with reported usage there.",
    ),
    subAgents: about(z.number().int(), "Those of them that are sub-agents."),
    savings: about(
      savingsSchema.nullable(),
      "Estimated savings of edits in these conversations and days; null for one model, where none are known.",
    ),
    sizes: about(
      z.array(sizeSumSchema).nullable(),
      "The same by size of conversation, smallest first; null for one model.",
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
    retries: about(z.number().int(), "Times that longhaul sent the request again before it was answered."),
  }),
  "One report of usage.",
);
