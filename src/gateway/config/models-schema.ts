import { z } from "zod";
import { policyNameSchema, wholeSchema } from "./schema-values.ts";

const PRICE = "US dollars per million tokens";
const price = () => z.number({ error: PRICE }).min(0, { error: PRICE }).exactOptional();
const tokens = () => wholeSchema(1, 1_000_000_000, "(tokens)");

/** Overrides of model facts, by model id or by a prefix of ids followed by "*". */
export const modelsSchema = z
  .record(
    z.string().regex(/^[^*]+\*?$|^\*$/, { error: 'a model id, or the beginning of ids followed by "*"' }),
    z.strictObject(
      {
        window: tokens().describe("tokens of prompt and output together").exactOptional(),
        maxOutput: tokens().describe("maximum tokens of a reply").exactOptional(),
        prices: z
          .strictObject(
            {
              input: price(),
              output: price(),
              cacheRead: price(),
              cacheWrite: price(),
              cacheWriteHour: price(),
            },
            { error: "an object" },
          )
          .describe(PRICE)
          .exactOptional(),
        threshold: wholeSchema(5, 100, "(percent)").describe("instead of `threshold`").exactOptional(),
        reserveTokens: wholeSchema(0, 1_000_000_000, "(tokens)")
          .describe("tokens reserved for the reply")
          .exactOptional(),
        maxMessages: wholeSchema(2, 1_000_000_000).describe("maximum messages in a window").exactOptional(),
        maxTurns: wholeSchema(1, 1_000_000_000).describe("turns between two summaries").exactOptional(),
        policy: policyNameSchema().describe("instead of `policy`").exactOptional(),
      },
      { error: "an object" },
    ),
    { error: "an object by model id" },
  )
  .default({})
  .describe("your own facts about models");
