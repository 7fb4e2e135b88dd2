import { z } from "zod";
import { flagSchema, wholeSchema } from "./schema-values.ts";

const MB = 1_000_000;

const retentionLimits = {
  maxAgeDays: wholeSchema(1, 36_500, "(days)")
    .describe("conversations unused for longer are due")
    .exactOptional(),
  maxBytes: wholeSchema(1, Number.MAX_SAFE_INTEGER, "(bytes)")
    .describe("if all conversations are larger together, the longest unused are due")
    .exactOptional(),
};

/** Rules for `longhaul retention`; the gateway itself deletes no conversation. */
export const retentionSchema = z
  .strictObject(
    {
      ...retentionLimits,
      agents: z
        .record(z.string(), z.strictObject(retentionLimits, { error: "an object" }), {
          error: "an object by agent",
        })
        .default({})
        .describe("other limits for the conversations of one agent"),
      people: z
        .record(z.string(), z.strictObject(retentionLimits, { error: "an object" }), {
          error: "an object by person",
        })
        .default({})
        .describe("other limits for the conversations of one person"),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("rules for longhaul retention");

/** Settings of the monitor. */
export const monitorSchema = z
  .strictObject(
    {
      enabled: flagSchema().default(true).describe("measure memory and relieve pressure"),
      intervalMs: wholeSchema(100, 86_400_000, "(milliseconds)")
        .default(30_000)
        .describe("time between two measurements"),
      warningBytes: wholeSchema(1_000_000, Number.MAX_SAFE_INTEGER, "(bytes)")
        .default(500 * MB)
        .describe("memory of the process at which a warning is given"),
      criticalBytes: wholeSchema(1_000_000, Number.MAX_SAFE_INTEGER, "(bytes)")
        .default(1_000 * MB)
        .describe("memory of the process at which caches are dropped"),
      heapSnapshots: wholeSchema(0, 10)
        .default(0)
        .describe(
          "heap snapshots that are kept in the store's folder, one for each critical state; 0 for none",
        ),
    },
    { error: "an object" },
  )
  .prefault({})
  .describe("memory monitor");
