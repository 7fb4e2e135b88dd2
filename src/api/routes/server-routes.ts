import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { z } from "zod";
import { runWithTimeLimit } from "../../base/time-limit.ts";
import type { Kernel } from "../../index.ts";
import { type ApiCaller, isAdminCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import { about } from "../core/named-schema.ts";
import { type ApiRoute, defineRoute, defineStream } from "../core/route.ts";
import { timeSchema } from "../schemas/common-schemas.ts";
import {
  healthHistorySchema,
  healthSchema,
  monitorNoteSchema,
  reliefReplySchema,
} from "../schemas/health-schemas.ts";
import { jobSchema } from "../schemas/job-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";
import { STATE_NAMES } from "../schemas/task-schemas.ts";

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
