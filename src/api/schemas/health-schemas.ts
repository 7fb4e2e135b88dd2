import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";
import { savingsSchema } from "./usage-schemas.ts";

export const healthSchema = defineSchema(
  "Health",
  z.object({
    status: about(z.enum(["ok", "draining", "store"]), '"store" if the store cannot be written.'),
    version: z.string(),
    now: timeSchema,
    startedAt: timeSchema,
    person: about(z.string(), '"local", or "@" and the name of the token.'),
    inFlight: about(z.number().int(), "Unfinished requests."),
    notices: about(
      z.array(z.object({ at: timeSchema, type: z.string(), text: z.string() })),
      "Messages of the memory monitor since the start, newest first: warning, critical, growth, relief, normal.",
    ),
    process: about(
      z
        .object({
          pid: z.number().int(),
          node: z.string(),
          rssBytes: z.number(),
          heapBytes: z.number(),
          heapLimitBytes: z.number(),
          externalBytes: z.number(),
          eventLoopDelayMs: about(
            z.number().nullable(),
            "Mean delay of the event loop since the last request.",
          ),
        })
        .nullable(),
      "Null for people with a token, like the following fields.",
    ),
    store: z.object({ logBytes: z.number(), blobBytes: z.number(), memoryBytes: z.number() }).nullable(),
    index: z
      .object({
        sources: z.number().int(),
        chunks: z.number().int(),
        entries: z.number().int(),
        unindexed: z.number().int(),
        unembedded: z.number().int(),
      })
      .nullable(),
    totals: z
      .object({
        requests: z.number().int(),
        failures: z.number().int(),
        edits: z.number().int(),
        healed: z.number().int(),
        savings: savingsSchema,
      })
      .nullable(),
    handles: about(
      z.record(z.string(), z.object({ opened: z.number().int(), closed: z.number().int() })).nullable(),
      "Numbers of opened and closed sessions, tails, watchers, workers and child processes.",
    ),
  }),
);
