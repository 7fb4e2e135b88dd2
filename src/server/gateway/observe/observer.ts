import { addSavings, countPromptTokens, NO_SAVINGS } from "../../../kernel/faces/window.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { formatTokens } from "../../../model/usage.ts";
import type { GatewayLog, LogFields } from "./gateway-log.ts";
import type { GatewaySpending, GatewayTotals, ThreadStatus, UpstreamStatus } from "./gateway-status.ts";
import type { Metrics } from "./metrics.ts";
import type { Trace } from "./trace.ts";

interface ObserverDeps {
  readonly log: GatewayLog;
  readonly metrics: Metrics;
  /** The window size that a client assumes for a model. */
  readonly getClientWindow: (model: string) => number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Maximum number of conversations in /api/v1/gateway. */
const MAX_THREADS = 100;
/** Maximum number of edits shown with each. */
const MAX_EDITS = 5;
const MAX_TITLE = 60;
/** Nothing that longhaul could mend: the body that was refused was the client's own. */
const THINKING_REFUSED =
  "the provider refused the agent's own request: something before a block of thinking is not as it was when the model wrote it";
const NO_SPENDING: GatewaySpending = { spentCost: 0, savings: NO_SAVINGS };

/** Turns finished requests into log lines, metrics and the status. */
export class Observer {
  readonly #deps: ObserverDeps;
  readonly #totals: Mutable<GatewayTotals> = {
    requests: 0,
    failures: 0,
    edits: 0,
    healed: 0,
    spending: NO_SPENDING,
  };
  readonly #upstreams = new Map<string, Mutable<UpstreamStatus>>();
  readonly #threads = new BoundedMap<string, Mutable<ThreadStatus>>({ max: MAX_THREADS });

  constructor(deps: ObserverDeps) {
    this.#deps = deps;
  }

  get totals(): GatewayTotals {
    return { ...this.#totals };
  }

  get upstreams(): readonly UpstreamStatus[] {
    return [...this.#upstreams.values()];
  }

  /** Most recently used first. */
  get threads(): readonly ThreadStatus[] {
    return [...this.#threads.values()].reverse();
  }

  /** Records a finished request. */
  recordEnd(trace: Trace): void {
    this.#count(trace);
    countInMetrics(trace, this.#deps.metrics);
    if (trace.session !== undefined) this.#follow(trace, trace.session);
    const { log } = this.#deps;
    const isBad = trace.error !== undefined || (trace.status ?? 0) >= 500;
    log[isBad ? "error" : "info"](
      "request",
      toLogFields(trace, () => this.#summarize(trace)),
    );
    const { advice, announcement, defect, refusedThinking, session } = trace;
    if (defect !== undefined) {
      const message = `a defect of longhaul: the provider refused an edit, please report it: ${defect}`;
      log.error("defect", { request: trace.id, session, message, summary: message });
    }
    if (refusedThinking && refusedThinking.client > 0)
      log.error("thinking", {
        request: trace.id,
        session,
        message: THINKING_REFUSED,
        summary: THINKING_REFUSED,
      });
    if (announcement !== undefined)
      log.info("edit", { session, message: announcement, summary: announcement });
    if (advice !== undefined) log.info("advice", { session, message: advice, summary: advice });
  }

  /** Records a finished request to the API. */
  recordApi(trace: ApiTrace): void {
    observeApi(trace, this.#deps);
  }

  /** A request in one short line. */
  #summarize(trace: Trace): string {
    const { client, api, model, tokensAfter, kind, status, error } = trace;
    const { startedMs, endedMs = performance.now(), title } = trace;
    const window = model === undefined ? undefined : this.#deps.getClientWindow(model);
    const words = [
      client ?? api,
      model?.replace(/^claude-/, ""),
      kind === undefined || kind === "main" ? undefined : kind,
      tokensAfter === undefined || window === undefined
        ? undefined
        : `${formatTokens(tokensAfter)}/${formatTokens(window)}`,
      status === undefined ? undefined : String(status),
      `${Math.round(endedMs - startedMs)} ms`,
      describeMiss(trace),
      error,
      title === undefined ? undefined : JSON.stringify(title.slice(0, MAX_TITLE)),
    ];
    return words.filter((word) => word !== undefined).join(" ");
  }

  #count(trace: Trace): void {
    const isFailed = trace.error !== undefined || (trace.status ?? 0) >= 400;
    this.#totals.requests++;
    if (isFailed) this.#totals.failures++;
    if (trace.isPlanned && !trace.isDryRun) this.#totals.edits++;
    this.#totals.healed += trace.healed ?? 0;
    this.#totals.spending = addSpending(this.#totals.spending, trace);
    if (trace.upstream === undefined) return;
    const known = this.#upstreams.get(trace.upstream) ?? { name: trace.upstream, requests: 0, failures: 0 };
    known.requests++;
    if (isFailed) known.failures++;
    if (trace.status !== undefined) known.lastStatus = trace.status;
    this.#upstreams.set(trace.upstream, known);
  }

  #follow(trace: Trace, session: string): void {
    const { kind = "main", model = "", client, announcement, usage, tokensAfter } = trace;
    const known = this.#threads.get(session);
    const lastAt = Date.now();
    const news = announcement === undefined ? [] : [{ at: lastAt, text: announcement }];
    this.#threads.set(session, {
      session,
      kind,
      model,
      ...dropUndefined({ client }),
      // The provider's own count, else the estimate.
      tokens: (usage && countPromptTokens(usage)) || (tokensAfter ?? known?.tokens ?? 0),
      window: this.#deps.getClientWindow(model),
      requests: (known?.requests ?? 0) + 1,
      spending: addSpending(known?.spending ?? NO_SPENDING, trace),
      lastAt,
      edits: [...news, ...(known?.edits ?? [])].slice(0, MAX_EDITS),
      inFlight: 0,
    });
  }
}

function addSpending(one: GatewaySpending, trace: Trace): GatewaySpending {
  const { spentDollars = 0, savings = NO_SAVINGS } = trace;
  if (spentDollars === 0 && savings === NO_SAVINGS) return one;
  return { spentCost: one.spentCost + spentDollars, savings: addSavings(one.savings, savings) };
}

/** Written out field by field, because spread objects are slow and every request passes here. */
function toLogFields(trace: Trace, summary: () => string): LogFields {
  const { startedMs, endedMs = performance.now(), usage, savings } = trace;
  return {
    request: trace.id,
    principal: trace.principal,
    client: trace.client,
    session: trace.session,
    kind: trace.kind,
    api: trace.api,
    model: trace.model,
    upstream: trace.upstream,
    ending: trace.ending,
    status: trace.status,
    ms: Math.round(endedMs - startedMs),
    overheadMs: trace.overheadMs,
    firstByteMs: trace.firstByteMs,
    bytesIn: trace.bytesIn,
    bytesOut: trace.bytesOut,
    tokensBefore: trace.tokensBefore,
    tokensAfter: trace.tokensAfter,
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    cacheReadTokens: usage?.cacheReadTokens,
    cacheWriteTokens: usage?.cacheWriteTokens,
    spentDollars: trace.spentDollars,
    savedDollars: savings?.savedCost,
    uneditedDollars: savings?.withoutCost,
    extraWriteDollars: savings?.extraWriteCost,
    cache: trace.cache?.verdict,
    missedTokens: trace.cache?.missedTokens || undefined,
    missDollars: trace.cache?.missDollars || undefined,
    healed: trace.healed,
    recalls: trace.recalls,
    unindexed: trace.unindexed,
    isStreamed: trace.isStreamed,
    isEdited: trace.isPlanned,
    isDryRun: trace.isDryRun,
    error: trace.error,
    summary,
  };
}

/** A miss of the provider's cache in a few words; undefined without one. */
function describeMiss({ cache }: Trace): string | undefined {
  if (!cache || cache.missedTokens === 0) return undefined;
  const { verdict, missedTokens, missDollars = 0 } = cache;
  const money = missDollars > 0 ? ` $${missDollars.toFixed(missDollars < 0.1 ? 4 : 2)}` : "";
  return `cache miss (${verdict}): ${formatTokens(missedTokens)}${money}`;
}

/** Counts a finished request in the metrics. */
function countInMetrics(trace: Trace, metrics: Metrics): void {
  const { api, upstream, usage, savings = NO_SAVINGS, cache } = trace;
  if (trace.principal.startsWith("@")) metrics.people.record(trace);
  metrics.requests.add({ api, status: String(trace.status ?? 0) });
  metrics.duration.observe({ api }, ((trace.endedMs ?? performance.now()) - trace.startedMs) / 1_000);
  if (trace.overheadMs !== undefined) metrics.overhead.observe({ api }, trace.overheadMs / 1_000);
  if (trace.firstByteMs !== undefined && upstream !== undefined)
    metrics.firstByte.observe({ upstream }, trace.firstByteMs / 1_000);
  metrics.bytes.add({ direction: "in" }, trace.bytesIn ?? 0);
  metrics.bytes.add({ direction: "out" }, trace.bytesOut ?? 0);
  metrics.tokens.add({ api, type: "input" }, usage?.inputTokens ?? 0);
  metrics.tokens.add({ api, type: "output" }, usage?.outputTokens ?? 0);
  metrics.tokens.add({ api, type: "cache_read" }, usage?.cacheReadTokens ?? 0);
  metrics.tokens.add({ api, type: "cache_write" }, usage?.cacheWriteTokens ?? 0);
  metrics.spentDollars.add({ api }, trace.spentDollars ?? 0);
  metrics.removedTokens.add({ api }, savings.removedTokens);
  metrics.savedDollars.add({ api }, savings.savedCost);
  metrics.uneditedDollars.add({ api }, savings.withoutCost);
  metrics.extraWriteDollars.add({ api }, savings.extraWriteCost);
  if (cache) {
    const { verdict, missedTokens, missDollars } = cache;
    metrics.cacheRequests.add({ api, verdict });
    if (missedTokens > 0) metrics.cacheMissedTokens.add({ api, cause: verdict }, missedTokens);
    if (missDollars) metrics.cacheMissDollars.add({ api, cause: verdict }, missDollars);
  }
  if (trace.isPlanned && !trace.isDryRun) metrics.edits.add({ api });
  if (trace.healed) metrics.healed.add({ api, what: "overflow" }, trace.healed);
  for (const by of ["longhaul", "client"] as const)
    if (trace.refusedThinking?.[by]) metrics.thinkingRefused.add({ api, by }, trace.refusedThinking[by]);
  if (trace.leftThinking) metrics.reasoningLost.add({ api, by: "longhaul" }, trace.leftThinking);
  if (trace.droppedThinking) metrics.reasoningLost.add({ api, by: "provider" }, trace.droppedThinking);
  if (trace.error === "stopped") metrics.breakerTrips.add({ reason: "loop" });
  if (trace.recalls) metrics.recalls.add({ api }, trace.recalls);
  if (upstream !== undefined && trace.error !== undefined && trace.error !== "stopped")
    metrics.upstreamErrors.add({ upstream, reason: trace.error });
}

/** An answered request to the API: names of routes, never their arguments. */
export interface ApiTrace {
  readonly method: string;
  /** The operation of the OpenAPI document; "unknown" for a path that is none. */
  readonly operation: string;
  readonly path: string | undefined;
  /** True if the reply lasts as long as its reader wishes. */
  readonly isStream: boolean;
  readonly principal: string;
  readonly status: number;
  /** True if the client left before the reply ended. */
  readonly isGone: boolean;
  readonly ms: number;
  readonly bytesIn: number;
}

/**
 * Counts and logs a request to the API. Reads are logged at the level debug, because a page asks every few seconds;
 * changes at info, failures at error.
 */
function observeApi(trace: ApiTrace, { log, metrics }: { log: GatewayLog; metrics: Metrics }): void {
  const { method, operation, path, isStream, principal, status, isGone, bytesIn } = trace;
  const ms = Math.round(trace.ms);
  metrics.apiRequests.add({ operation, status: String(status) });
  if (!isStream) metrics.apiDuration.observe({ operation }, trace.ms / 1_000);
  const isRead = method === "GET" || method === "HEAD";
  const level = status >= 500 ? "error" : isRead ? "debug" : "info";
  log[level]("api", {
    principal,
    method,
    path,
    kind: operation,
    ...(isGone && !isStream && { ending: "client-gone" }),
    status,
    ms,
    bytesIn,
    summary: `api ${operation} ${status} ${ms} ms`,
  });
}
