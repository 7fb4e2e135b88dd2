import { BoundedMap } from "../../base/bounded-map.ts";
import { addSavings, countPromptTokens, NO_SAVINGS } from "../../window-entry.ts";
import { formatTokens } from "./format-tokens.ts";
import type { GatewayLog } from "./gateway-log.ts";
import type { GatewaySpending, GatewayTotals, ThreadStatus, UpstreamStatus } from "./gateway-status.ts";
import type { Metrics } from "./metrics.ts";
import { type ApiTrace, observeApi } from "./observe-api.ts";
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
    this.#measure(trace);
    if (trace.session !== undefined) this.#follow(trace, trace.session);
    const { log } = this.#deps;
    const isBad = trace.error !== undefined || (trace.status ?? 0) >= 500;
    const summary = this.#summarize(trace);
    log[isBad ? "error" : "info"]("request", { ...toLogFields(trace), summary });
    const { announcement, session } = trace;
    if (announcement !== undefined)
      log.info("edit", { session, message: announcement, summary: announcement });
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

  #measure(trace: Trace): void {
    const { metrics } = this.#deps;
    const { api, upstream, usage = {} } = trace;
    metrics.people.record(trace);
    metrics.requests.add({ api, status: String(trace.status ?? 0) });
    metrics.duration.observe({ api }, ((trace.endedMs ?? performance.now()) - trace.startedMs) / 1_000);
    if (trace.overheadMs !== undefined) metrics.overhead.observe({ api }, trace.overheadMs / 1_000);
    if (trace.firstByteMs !== undefined && upstream !== undefined)
      metrics.firstByte.observe({ upstream }, trace.firstByteMs / 1_000);
    metrics.bytes.add({ direction: "in" }, trace.bytesIn ?? 0);
    metrics.bytes.add({ direction: "out" }, trace.bytesOut ?? 0);
    metrics.tokens.add({ api, type: "input" }, usage.inputTokens ?? 0);
    metrics.tokens.add({ api, type: "output" }, usage.outputTokens ?? 0);
    metrics.tokens.add({ api, type: "cache_read" }, usage.cacheReadTokens ?? 0);
    metrics.tokens.add({ api, type: "cache_write" }, usage.cacheWriteTokens ?? 0);
    metrics.spentDollars.add({ api }, trace.spentDollars ?? 0);
    const { savings = NO_SAVINGS } = trace;
    metrics.removedTokens.add({ api }, savings.removedTokens);
    metrics.savedDollars.add({ api }, savings.savedCost);
    metrics.uneditedDollars.add({ api }, savings.withoutCost);
    metrics.extraWriteDollars.add({ api }, savings.extraWriteCost);
    if (trace.isPlanned && !trace.isDryRun) metrics.edits.add({ api });
    if (trace.healed) metrics.healed.add({ api, what: "overflow" }, trace.healed);
    if (trace.error === "stopped") metrics.breakerTrips.add({ reason: "loop" });
    if (trace.recalls) metrics.recalls.add({ api }, trace.recalls);
    if (upstream !== undefined && trace.error !== undefined && trace.error !== "stopped")
      metrics.upstreamErrors.add({ upstream, reason: trace.error });
  }

  #follow(trace: Trace, session: string): void {
    const { kind = "main", model = "", client, announcement } = trace;
    const known = this.#threads.get(session);
    const lastAt = Date.now();
    const news = announcement === undefined ? [] : [{ at: lastAt, text: announcement }];
    this.#threads.set(session, {
      session,
      kind,
      model,
      ...(client !== undefined && { client }),
      tokens: countRequestTokens(trace) ?? known?.tokens ?? 0,
      window: this.#deps.getClientWindow(model),
      requests: (known?.requests ?? 0) + 1,
      spending: addSpending(known?.spending ?? NO_SPENDING, trace),
      lastAt,
      edits: [...news, ...(known?.edits ?? [])].slice(0, MAX_EDITS),
      inFlight: 0,
    });
  }
}

/** The provider's own count, else the estimate. */
function countRequestTokens({ usage, tokensAfter }: Trace): number | undefined {
  const counted = usage ? countPromptTokens(usage) : 0;
  return counted > 0 ? counted : tokensAfter;
}

function addSpending(
  one: GatewaySpending,
  { spentDollars = 0, savings = NO_SAVINGS }: Trace,
): GatewaySpending {
  return { spentCost: one.spentCost + spentDollars, savings: addSavings(one.savings, savings) };
}

function toLogFields(trace: Trace) {
  const {
    id,
    usage = {},
    startedMs,
    endedMs = performance.now(),
    isPlanned,
    announcement: _,
    title: _title,
    savings,
    ...rest
  } = trace;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    ...rest,
    request: id,
    ms: Math.round(endedMs - startedMs),
    isEdited: isPlanned,
    savedDollars: savings?.savedCost,
    uneditedDollars: savings?.withoutCost,
    extraWriteDollars: savings?.extraWriteCost,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
  };
}
