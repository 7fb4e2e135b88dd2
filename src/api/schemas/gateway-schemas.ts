import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";
import { savingsSchema } from "./usage-schemas.ts";

const spendingSchema = defineSchema(
  "GatewaySpending",
  z.object({
    spentCost: about(z.number(), "US dollars of requests whose price is known."),
    savings: savingsSchema,
  }),
  "Money since the start of the gateway.",
);

const upstreamStateSchema = defineSchema(
  "UpstreamState",
  z.object({
    name: z.string(),
    baseUrl: z.string(),
    apis: z.array(z.string()),
    prefix: z.string().optional(),
    models: z.array(z.string()).optional(),
    keyEnv: about(z.string().optional(), "Environment variable of its key."),
    hasKey: about(z.boolean(), "True if that variable is set; the key itself is never shown."),
    requests: z.number().int(),
    failures: z.number().int(),
    lastStatus: about(z.number().int().optional(), "Status of its last response."),
  }),
);

const threadSchema = defineSchema(
  "GatewayThread",
  z.object({
    session: z.string(),
    client: about(z.string().optional(), "The agent, if recognized."),
    kind: about(z.string(), "Purpose of the requests: main, title, compaction…"),
    model: z.string().optional(),
    tokens: about(z.number(), "Tokens of the last request, as its provider counted them, else as estimated."),
    window: about(z.number(), "The client's window."),
    requests: z.number().int(),
    spending: spendingSchema,
    lastAt: timeSchema,
    edits: about(z.array(z.object({ at: timeSchema, text: z.string() })), "The latest edits, newest first."),
    inFlight: about(z.number().int(), "Unfinished requests."),
  }),
  "A conversation that goes through the gateway.",
);

export const gatewaySchema = defineSchema(
  "Gateway",
  z.object({
    version: z.string(),
    now: timeSchema,
    startedAt: timeSchema,
    url: z.string(),
    isOpen: about(z.boolean(), "False while the gateway drains."),
    inFlight: about(z.number().int(), "Unfinished requests."),
    settings: z.object({
      policy: z.string(),
      dryRun: z.boolean(),
      threshold: about(
        z.number(),
        "Percent of the client's window from which content that can be fetched again leaves at the latest.",
      ),
      control: about(z.number(), "Share of new conversations that are never edited."),
      recall: z.object({ tools: z.string(), context: z.boolean() }),
      redact: z.boolean(),
    }),
    upstreams: z.array(upstreamStateSchema),
    missing: about(
      z.array(z.object({ name: z.string(), variable: z.string() })),
      "Providers that setting a variable makes available.",
    ),
    totals: about(
      z
        .object({
          requests: z.number().int(),
          failures: z.number().int(),
          edits: z.number().int(),
          healed: about(z.number().int(), "Overflows and refused blocks that were repaired."),
          spending: spendingSchema,
        })
        .nullable(),
      "Sums over all people since the start; null for people with a token.",
    ),
    threads: about(
      z.array(threadSchema),
      "Conversations of this run, most recently used first, at most 100; with a token only own ones.",
    ),
    agents: about(
      z.array(z.object({ agent: z.string(), place: z.string(), lines: z.string() })),
      "The lines that point each agent at the gateway; they contain no secret.",
    ),
  }),
);
