import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { z } from "zod";
import type { Kernel } from "../../../kernel/index.ts";
import { runWithTimeLimit } from "../../../model/base/time-limit.ts";
import { type ApiCaller, isAdminCaller, isVisibleTo } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about, defineSchema } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute, defineStream } from "../core/route.ts";
import { timeSchema } from "../schemas/common-schemas.ts";
import { jobSchema } from "../schemas/job-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";
import { STATE_NAMES } from "../schemas/task-schemas.ts";
import { savingsSchema } from "../schemas/usage-schemas.ts";

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

const monitorNoteSchema = defineSchema(
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

const healthHistorySchema = defineSchema(
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

const reliefReplySchema = reliefSchema;

const healthSchema = defineSchema(
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

const tag = "Server";
const MAX_PROBE_MS = 2_000;

const getHealth = defineRoute(
  {
    id: "getHealth",
    method: "GET",
    path: "/health",
    tag,
    summary: "Show the state of the gateway, its store and its index",
    reply: healthSchema,
  },
  async ({ services: { kernel, server }, caller }) => {
    const { version, startedAt, isOpen, inFlight, totals, memory } = server();
    const { notices } = memory;
    const canWrite = await runWithTimeLimit({ limitMs: MAX_PROBE_MS }, () => kernel.probe()).then(
      () => true,
      () => false,
    );
    const status = isOpen ? (canWrite ? "ok" : "store") : "draining";
    const base = {
      status,
      version,
      now: Date.now(),
      startedAt,
      person: caller.id,
      inFlight,
      notices,
    } as const;
    if (!isAdminCaller(caller))
      return { ...base, process: null, memory: null, store: null, index: null, totals: null, handles: null };
    return {
      ...base,
      process: measureProcess(),
      memory: describeMemory(kernel),
      store: await kernel.size().catch(() => null),
      index: await kernel.memory.state().catch(() => null),
      totals,
      handles: listHandles(kernel),
    };
  },
);

function describeMemory({ monitor }: Kernel) {
  if (!monitor.last) return null;
  const { level, usedBytes, cacheBytes, growthPerHour } = monitor.last;
  const { warningBytes, criticalBytes } = monitor.limits;
  return { level, usedBytes, cacheBytes, growthPerHour, warningBytes, criticalBytes };
}

function checkLocal(caller: ApiCaller): void {
  if (isAdminCaller(caller)) return;
  throw new ApiError("FORBIDDEN", "Only the person who runs the gateway sees its memory.");
}

const getHealthHistory = defineRoute(
  {
    id: "getHealthHistory",
    method: "GET",
    path: "/health/history",
    tag,
    summary: "Show memory, caches, event loop and disk over time, with warnings and reliefs",
    query: z.strictObject({
      since: about(queryNumber(0).default(0), "Only what came at or after this time."),
    }),
    reply: healthHistorySchema,
    errors: ["FORBIDDEN"],
  },
  async ({ services: { kernel }, caller, query }) => {
    checkLocal(caller);
    const { monitor } = kernel;
    return {
      ...monitor.limits,
      heapLimitBytes: getHeapStatistics().heap_size_limit,
      ...monitor.history(query.since),
    };
  },
);

const relieveMemory = defineRoute(
  {
    id: "relieveMemory",
    method: "POST",
    path: "/health/relieve",
    tag,
    summary: "Drop all caches and empty the write-ahead log, as at critical pressure",
    body: z.strictObject({}),
    reply: reliefReplySchema,
    errors: ["FORBIDDEN"],
  },
  async ({ services: { kernel }, caller }) => {
    checkLocal(caller);
    return kernel.monitor.relieve();
  },
);

function listHandles(kernel: Kernel) {
  return Object.fromEntries(
    Object.entries(kernel.counts()).map(([kind, { opened, closed }]) => [kind, { opened, closed }]),
  );
}

let loopDelay: ReturnType<typeof monitorEventLoopDelay> | undefined;

/** Memory of the process; the first call starts the measurement of the event loop. */
function measureProcess() {
  const { rss, heapUsed, external } = process.memoryUsage();
  const mean = loopDelay && loopDelay.count > 0 ? loopDelay.mean / 1e6 : null;
  if (!loopDelay) {
    loopDelay = monitorEventLoopDelay({ resolution: 20 });
    loopDelay.enable();
  }
  loopDelay.reset();
  return {
    pid: process.pid,
    node: process.version,
    rssBytes: rss,
    heapBytes: heapUsed,
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    externalBytes: external,
    eventLoopDelayMs: mean,
  };
}

const followEvents = defineStream(
  {
    id: "followEvents",
    method: "GET",
    path: "/events",
    tag,
    summary:
      "Follow changes of conversations, tasks and jobs, and warnings about memory, as server-sent events",
    description:
      "Changes by all processes that share the store. After `reset`, the client reads again what it shows: it has missed events.",
    events: {
      session: z.object({
        session: z.string(),
        entries: z.number().int(),
        at: timeSchema,
        isNew: about(z.boolean(), "True if the stream names the session for the first time."),
      }),
      task: z.object({ id: z.string(), session: z.string(), state: z.enum(STATE_NAMES) }),
      job: jobSchema,
      memory: about(monitorNoteSchema, "Only for the person who runs the gateway."),
      reset: z.object({}),
    },
  },
  async ({ services: { feed }, caller, lastEventId, signal }) => feed.follow(caller, lastEventId, signal),
);

export const SERVER_ROUTES = [
  getHealth,
  getHealthHistory,
  relieveMemory,
  followEvents,
] as const satisfies readonly ApiRoute[];

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

const gatewaySchema = defineSchema(
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
      recall: z.object({ offer: z.string(), context: z.boolean() }),
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

const getGateway = defineRoute(
  {
    id: "getGateway",
    method: "GET",
    path: "/gateway",
    tag: "Server",
    summary: "Show the gateway's upstreams and settings, and the conversations that go through it now",
    reply: gatewaySchema,
  },
  async ({ services: { server, gateway }, caller }) => {
    const { version, startedAt, isOpen, inFlight, totals } = server();
    const { spending, threads, ...facts } = gateway();
    const { requests, failures, edits, healed } = totals;
    return {
      ...{ version, now: Date.now(), startedAt, isOpen, inFlight },
      ...facts,
      // Sums over all people would reveal one person's activity to another.
      totals: isAdminCaller(caller) ? { requests, failures, edits, healed, spending } : null,
      threads: threads.filter(({ session }) => isVisibleTo(caller, session)),
    };
  },
);

export const GATEWAY_ROUTES = [getGateway] as const satisfies readonly ApiRoute[];
