import { z } from "zod";
import { about, defineSchema } from "../core/named-schema.ts";
import { timeSchema } from "./common-schemas.ts";
import { savingsSchema } from "./usage-schemas.ts";

const levelSchema = z.enum(["normal", "warning", "critical"]);

const reliefSchema = defineSchema(
  "Relief",
  z.object({
    at: timeSchema,
    cacheBytesBefore: z.number(),
    cacheBytesAfter: z.number(),
    caches: z.array(z.object({ name: z.string(), freedBytes: z.number() })),
    journalBytes: about(z.number(), "Bytes that the write-ahead log returned."),
    heapBytesBefore: z.number(),
    heapBytesAfter: z.number(),
    cacheShare: about(z.number(), "Share of their limits that caches may use from then on."),
    heapSnapshot: z.string().optional(),
  }),
  "Caches dropped, and the memory that this freed.",
);

export const monitorNoteSchema = defineSchema(
  "MonitorNote",
  z.object({
    at: timeSchema,
    type: z.enum(["warning", "critical", "normal", "growth", "relief"]),
    text: z.string(),
    report: reliefSchema.optional(),
  }),
  "A message of the monitor.",
);

const pointSchema = defineSchema(
  "MonitorPoint",
  z.object({
    at: timeSchema,
    level: levelSchema,
    usedBytes: about(z.number(), "Heap and memory outside of it, which the limits apply to."),
    heapUsedBytes: z.number(),
    heapTotalBytes: z.number(),
    rssBytes: z.number(),
    externalBytes: z.number(),
    caches: about(z.record(z.string(), z.number()), "Bytes by cache."),
    cacheBytes: z.number(),
    eventLoop: z.object({ meanMs: z.number(), maxMs: z.number(), busy: z.number() }),
    disk: z.object({ logBytes: z.number(), journalBytes: z.number(), blobBytes: z.number() }),
    files: z.number().int(),
    listeners: z.number().int(),
    childProcesses: z.number().int(),
    growthPerHour: about(z.number(), "Slope of the used memory, in bytes per hour."),
  }),
);

export const healthHistorySchema = defineSchema(
  "HealthHistory",
  z.object({
    intervalMs: z.number(),
    warningBytes: z.number(),
    criticalBytes: z.number(),
    heapLimitBytes: about(z.number(), "The size at which V8 ends the process."),
    points: about(
      z.array(pointSchema),
      "Oldest first: the last 360 samples, and before them one in 20, the one with the most memory in use.",
    ),
    notes: about(z.array(monitorNoteSchema), "Warnings, growth and reliefs, oldest first."),
  }),
  "Memory, event loop and disk over time.",
);

export const reliefReplySchema = reliefSchema;

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
    memory: about(
      z
        .object({
          level: levelSchema,
          usedBytes: z.number(),
          cacheBytes: z.number(),
          growthPerHour: z.number(),
          warningBytes: z.number(),
          criticalBytes: z.number(),
        })
        .nullable(),
      "The last sample of the monitor, and the limits that it is judged by; null before the first.",
    ),
    store: z.object({ logBytes: z.number(), blobBytes: z.number(), memoryBytes: z.number() }).nullable(),
    index: z
      .object({
        sources: z.number().int(),
        chunks: z.number().int(),
        entries: z.number().int(),
        unindexed: z.number().int(),
        unembedded: z.number().int(),
        hasVectors: z.boolean(),
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
