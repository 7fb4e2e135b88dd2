import { BoundedMap } from "../../base/bounded-map.ts";
import { addSavings, countPromptTokens, NO_SAVINGS } from "../../window-entry.ts";
import { formatTokens } from "./format-tokens.ts";
import type { GatewayLog } from "./gateway-log.ts";
import type { GatewaySpending, GatewayTotals, ThreadStatus, UpstreamStatus } from "./gateway-status.ts";
import type { LogFields } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
import { type ApiTrace, observeApi } from "./observe-api.ts";
import { RequestMeter } from "./request-meter.ts";
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
  readonly #meter: RequestMeter;
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
    this.#meter = new RequestMeter(deps.metrics);
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
    this.#meter.record(trace);
    if (trace.session !== undefined) this.#follow(trace, trace.session);
    const { log } = this.#deps;
    const isBad = trace.error !== undefined || (trace.status ?? 0) >= 500;
    log[isBad ? "error" : "info"](
      "request",
      toLogFields(trace, () => this.#summarize(trace)),
    );
    const { advice, announcement, defect, session } = trace;
    if (defect !== undefined) {
      const message = `a defect of longhaul: the provider refused an edit, please report it: ${defect}`;
      log.error("defect", { request: trace.id, session, message, summary: message });
    }
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
    healed: trace.healed,
    recalls: trace.recalls,
    unindexed: trace.unindexed,
    isStreamed: trace.isStreamed,
    isEdited: trace.isPlanned,
    isDryRun: trace.isDryRun,
    isForwardedFirst: trace.isForwardedFirst,
    isSentTwice: trace.isSentTwice,
    error: trace.error,
    summary,
  };
}
