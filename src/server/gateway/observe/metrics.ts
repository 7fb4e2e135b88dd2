import type { MonitorSample } from "../../../kernel/faces/log.ts";
import { countPromptTokens } from "../../../kernel/faces/window.ts";
import { findSessionOwner } from "../../../model/session-key.ts";
import { createMemoryMetrics } from "./memory-metrics.ts";
import {
  type Counter,
  createCounterMetric,
  createGaugeMetric,
  createHistogramMetric,
  type Histogram,
  type Metric,
  OTHER,
} from "./metric.ts";
import type { Trace } from "./trace.ts";

/** Values that are read when the metrics are rendered. */
interface MetricsOptions {
  readonly version: string;
  readonly activeStreams: () => number;
  readonly openThreads: () => number;
  readonly connections: () => number;
  /** The last sample of the monitor. */
  readonly memory?: () => MonitorSample | undefined;
}

/** All metrics of the gateway. */
export interface Metrics {
  /** Answered requests, by status. */
  readonly requests: Counter<"api" | "status">;
  /** Requests refused at the door, by kind of fault. */
  readonly refused: Counter<"kind">;
  readonly upstreamErrors: Counter<"upstream" | "reason">;
  /** Types are input, output, cache_read and cache_write. */
  readonly tokens: Counter<"api" | "type">;
  /** Prompt tokens without edits minus the tokens sent; negative where additions exceed them. */
  readonly removedTokens: Counter<"api">;
  /** US dollars, of requests whose price is known. */
  readonly spentDollars: Counter<"api">;
  /** US dollars, estimated; decreases while an edit has not paid off yet. */
  readonly savedDollars: Counter<"api">;
  /** The denominator of `savedDollars`: the estimated cost of the same requests without edits. */
  readonly uneditedDollars: Counter<"api">;
  /** Cost of tokens that edits made providers write to their cache again; `savedDollars` includes it. */
  readonly extraWriteDollars: Counter<"api">;
  /** Requests by the verdict about the provider's cache: hit, first, unreported, or the cause of a miss. */
  readonly cacheRequests: Counter<"api" | "verdict">;
  readonly cacheMissedTokens: Counter<"api" | "cause">;
  readonly cacheMissDollars: Counter<"api" | "cause">;
  /** Dollars that keepAlive spent on refreshes. */
  readonly keepAliveDollars: Counter<"upstream">;
  readonly edits: Counter<"api">;
  /** Repaired failures: overflow or block. */
  readonly healed: Counter<"api" | "what">;
  /** Refusals of reasoning behind a changed prefix; `by` is longhaul where it had changed the request, else client. */
  readonly thinkingRefused: Counter<"api" | "by">;
  /** Blocks of reasoning that the model did not see again, left out by longhaul or dropped by the provider. */
  readonly reasoningLost: Counter<"api" | "by">;
  readonly breakerTrips: Counter<"reason">;
  readonly recalls: Counter<"api">;
  readonly redacted: Counter<"kind">;
  /** Budgets that were used to 80 % and more, once in each of their periods. */
  readonly budgetWarnings: Counter<never>;
  /** Directions are in and out, as the client sees them. */
  readonly bytes: Counter<"direction">;
  readonly duration: Histogram<"api">;
  /** The gateway's own time before a request is sent. */
  readonly overhead: Histogram<"api">;
  readonly firstByte: Histogram<"upstream">;
  /** Answered requests to /api/v1, by operation of the OpenAPI document and status. */
  readonly apiRequests: Counter<"operation" | "status">;
  /** Streams are not included: they last as long as somebody reads. */
  readonly apiDuration: Histogram<"operation">;
  /** Usage by person, which `render` leaves out. */
  readonly people: PersonMetrics;
  /** All other metrics in Prometheus' text format. */
  render(): string;
}

/** Content type of the text that `render` returns. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const OVERHEAD = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5];
const LATENCY = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640];

/** A new set of metrics, all at zero. */
export function createMetrics(options: MetricsOptions): Metrics {
  const families = {
    requests: createCounterMetric("longhaul_requests_total", "Answered requests.", ["api", "status"]),
    refused: createCounterMetric("longhaul_refused_total", "Rejected requests.", ["kind"]),
    upstreamErrors: createCounterMetric("longhaul_upstream_errors_total", "Failed calls to an upstream.", [
      "upstream",
      "reason",
    ]),
    tokens: createCounterMetric("longhaul_tokens_total", "Tokens reported by providers.", ["api", "type"]),
    removedTokens: createCounterMetric(
      "longhaul_removed_tokens",
      "Estimated tokens that edits removed from requests, less additions.",
      ["api"],
      "gauge",
    ),
    spentDollars: createCounterMetric(
      "longhaul_spent_dollars_total",
      "Cost of requests, as reported or by the model's prices, in US dollars.",
      ["api"],
    ),
    savedDollars: createCounterMetric(
      "longhaul_saved_dollars",
      "Estimated savings of edits after their own cost, in US dollars.",
      ["api"],
      "gauge",
    ),
    uneditedDollars: createCounterMetric(
      "longhaul_unedited_dollars",
      "Estimated cost of the same requests without edits, in US dollars.",
      ["api"],
      "gauge",
    ),
    extraWriteDollars: createCounterMetric(
      "longhaul_extra_write_dollars",
      "Estimated cost of cache writes caused by edits, in US dollars.",
      ["api"],
      "gauge",
    ),
    cacheRequests: createCounterMetric(
      "longhaul_cache_requests_total",
      "Requests by the state of the provider's cache: hit, first, unreported, or the cause of a miss.",
      ["api", "verdict"],
    ),
    cacheMissedTokens: createCounterMetric(
      "longhaul_cache_missed_tokens_total",
      "Tokens that were paid for again although they had been cached.",
      ["api", "cause"],
    ),
    cacheMissDollars: createCounterMetric(
      "longhaul_cache_miss_dollars_total",
      "Cost of missed tokens above the price of a cache read, in US dollars.",
      ["api", "cause"],
    ),
    keepAliveDollars: createCounterMetric(
      "longhaul_cache_keep_alive_dollars_total",
      "Cost of requests that keep a provider's cache alive, in US dollars.",
      ["upstream"],
    ),
    edits: createCounterMetric("longhaul_edits_total", "Context edits.", ["api"]),
    healed: createCounterMetric("longhaul_healed_total", "Provider errors healed before clients saw them.", [
      "api",
      "what",
    ]),
    thinkingRefused: createCounterMetric(
      "longhaul_thinking_refused_total",
      "Requests that a provider refused because their prefix had changed before a block of reasoning.",
      ["api", "by"],
    ),
    reasoningLost: createCounterMetric(
      "longhaul_reasoning_lost_total",
      "Blocks of reasoning that the model does not see again.",
      ["api", "by"],
    ),
    breakerTrips: createCounterMetric("longhaul_breaker_trips_total", "Stopped runaway loops.", ["reason"]),
    recalls: createCounterMetric("longhaul_recalls_total", "Recalls by the gateway.", ["api"]),
    redacted: createCounterMetric("longhaul_redacted_total", "Secrets removed from stored content.", [
      "kind",
    ]),
    budgetWarnings: createCounterMetric<never>(
      "longhaul_budget_warnings_total",
      "Budgets of which 80 % were used, once in each period.",
      [],
    ),
    bytes: createCounterMetric("longhaul_bytes_total", "Body bytes received from and sent to clients.", [
      "direction",
    ]),
    duration: createHistogramMetric(
      "longhaul_request_seconds",
      "Time from the head of a request to the end of its reply.",
      ["api"],
      LATENCY,
    ),
    overhead: createHistogramMetric(
      "longhaul_overhead_seconds",
      "Time in the gateway before a request is sent.",
      ["api"],
      OVERHEAD,
    ),
    firstByte: createHistogramMetric(
      "longhaul_first_byte_seconds",
      "Time to the first byte of an upstream's reply.",
      ["upstream"],
      LATENCY,
    ),
    apiRequests: createCounterMetric("longhaul_api_requests_total", "Answered requests to /api/v1.", [
      "operation",
      "status",
    ]),
    apiDuration: createHistogramMetric(
      "longhaul_api_request_seconds",
      "Time from the head of a request to /api/v1 to the end of its reply, without streams.",
      ["operation"],
      OVERHEAD,
    ),
  } as const;
  const all: readonly Metric[] = [...Object.values(families), ...createProcessMetrics(options)];
  return {
    ...families,
    people: createPersonMetrics(),
    render: () => all.map((metric) => metric.render()).join(""),
  };
}

function createProcessMetrics(options: MetricsOptions): readonly Metric[] {
  const info = createCounterMetric("longhaul_info", "Running version.", ["version"], "gauge");
  info.add({ version: options.version });
  const startedAt = Date.now() / 1_000 - process.uptime();
  return [
    info,
    createGaugeMetric("longhaul_active_streams", "Replies in progress.", options.activeStreams),
    createGaugeMetric("longhaul_open_threads", "Conversations in memory.", options.openThreads),
    createGaugeMetric("longhaul_connections", "Open client connections.", options.connections),
    createGaugeMetric("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss()),
    createGaugeMetric("nodejs_heap_size_used_bytes", "Heap in use.", () => process.memoryUsage().heapUsed),
    ...createMemoryMetrics(options.memory ?? (() => undefined)),
    createGaugeMetric("process_cpu_seconds_total", "CPU time.", readCpuSeconds, "counter"),
    createGaugeMetric(
      "process_start_time_seconds",
      "Start time of the process, in Unix time.",
      () => startedAt,
    ),
  ];
}

function readCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Usage by person. Only admins see it; beyond a number of people, further ones are counted as one. */
interface PersonMetrics {
  /** Counts a finished request of a person with a token, whose id begins with "@". */
  record(trace: Trace): void;
  /** The metrics of the people who still exist; an erased person is named nowhere. */
  render(people: ReadonlySet<string>): string;
}

function createPersonMetrics(): PersonMetrics {
  const requests = createCounterMetric("longhaul_person_requests_total", "Requests by person.", ["person"]);
  const refusals = createCounterMetric(
    "longhaul_person_refusals_total",
    "Requests refused by a budget or rate limit, by person.",
    ["person"],
  );
  const tokens = createCounterMetric("longhaul_person_tokens_total", "Tokens by person, prompt and output.", [
    "person",
  ]);
  const spentDollars = createCounterMetric(
    "longhaul_person_spent_dollars_total",
    "Cost of requests by person, in US dollars.",
    ["person"],
  );
  return {
    record({ principal, usage, spentDollars: cost = 0, error }) {
      const person = findSessionOwner(`${principal}/`);
      requests.add({ person });
      if (error === "budget" || error === "rate_limit") refusals.add({ person });
      if (usage) tokens.add({ person }, countPromptTokens(usage) + (usage.outputTokens ?? 0));
      spentDollars.add({ person }, cost);
    },
    render: (people) =>
      [requests, refusals, tokens, spentDollars]
        .flatMap((metric) => metric.render().split(/(?<=\n)/))
        .filter((line) => isOf(line, people))
        .join(""),
  };
}

/** True unless a line names a person who is not among these; names of people need no escaping. */
function isOf(line: string, people: ReadonlySet<string>): boolean {
  const [, person] = /\{person="(.*)"\}/.exec(line) ?? [];
  return person === undefined || person === OTHER || people.has(person);
}
