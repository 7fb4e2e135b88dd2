import type { ApiName } from "../api/api.ts";
import {
  type Counter,
  type Histogram,
  type Metric,
  makeCounter,
  makeGauge,
  makeHistogram,
} from "./metric.ts";

/** Values that are read when the metrics are rendered. */
export interface MetricsOptions {
  readonly version: string;
  readonly activeStreams: () => number;
  readonly openThreads: () => number;
  readonly connections: () => number;
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
  /** Tokens that edits removed from requests. */
  readonly removedTokens: Counter<"api">;
  /** US dollars; decreases while an edit has not paid off yet. */
  readonly savedDollars: Counter<"api">;
  readonly edits: Counter<"api">;
  /** Repaired failures: overflow or block. */
  readonly healed: Counter<"api" | "what">;
  readonly breakerTrips: Counter<"reason">;
  readonly recalls: Counter<"api">;
  readonly redacted: Counter<"kind">;
  /** Directions are in and out, as the client sees them. */
  readonly bytes: Counter<"direction">;
  readonly duration: Histogram<"api">;
  /** The gateway's own time before a request is sent. */
  readonly overhead: Histogram<"api">;
  readonly firstByte: Histogram<"upstream">;
  /** All metrics in Prometheus' text format. */
  render(): string;
}

/** Content type of the text that `render` returns. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Values of the label `api`: an API's name, or the kind of another request. */
export type MetricApi = ApiName | "page" | "pass";

const OVERHEAD = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5];
const LATENCY = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640];

/** A new set of metrics, all at zero. */
export function makeMetrics(options: MetricsOptions): Metrics {
  const families = {
    requests: makeCounter("longhaul_requests_total", "Answered requests.", ["api", "status"]),
    refused: makeCounter("longhaul_refused_total", "Rejected requests.", ["kind"]),
    upstreamErrors: makeCounter("longhaul_upstream_errors_total", "Failed calls to an upstream.", [
      "upstream",
      "reason",
    ]),
    tokens: makeCounter("longhaul_tokens_total", "Tokens reported by providers.", ["api", "type"]),
    removedTokens: makeCounter("longhaul_removed_tokens_total", "Tokens that edits removed from requests.", [
      "api",
    ]),
    savedDollars: makeCounter(
      "longhaul_saved_dollars",
      "Estimated savings of edits, in US dollars.",
      ["api"],
      "gauge",
    ),
    edits: makeCounter("longhaul_edits_total", "Context edits.", ["api"]),
    healed: makeCounter("longhaul_healed_total", "Provider errors healed before clients saw them.", [
      "api",
      "what",
    ]),
    breakerTrips: makeCounter("longhaul_breaker_trips_total", "Stopped runaway loops.", ["reason"]),
    recalls: makeCounter("longhaul_recalls_total", "Recalls by the gateway.", ["api"]),
    redacted: makeCounter("longhaul_redacted_total", "Secrets removed from stored content.", ["kind"]),
    bytes: makeCounter("longhaul_bytes_total", "Body bytes received from and sent to clients.", [
      "direction",
    ]),
    duration: makeHistogram(
      "longhaul_request_seconds",
      "Time from the head of a request to the end of its reply.",
      ["api"],
      LATENCY,
    ),
    overhead: makeHistogram(
      "longhaul_overhead_seconds",
      "Time in the gateway before a request is sent.",
      ["api"],
      OVERHEAD,
    ),
    firstByte: makeHistogram(
      "longhaul_first_byte_seconds",
      "Time to the first byte of an upstream's reply.",
      ["upstream"],
      LATENCY,
    ),
  } as const;
  const all: readonly Metric[] = [...Object.values(families), ...processMetrics(options)];
  return { ...families, render: () => all.map((metric) => metric.render()).join("") };
}

function processMetrics(options: MetricsOptions): readonly Metric[] {
  const info = makeCounter("longhaul_info", "Running version.", ["version"], "gauge");
  info.add({ version: options.version });
  const startedAt = Date.now() / 1_000 - process.uptime();
  return [
    info,
    makeGauge("longhaul_active_streams", "Replies in progress.", options.activeStreams),
    makeGauge("longhaul_open_threads", "Conversations in memory.", options.openThreads),
    makeGauge("longhaul_connections", "Open client connections.", options.connections),
    makeGauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss()),
    makeGauge("nodejs_heap_size_used_bytes", "Heap in use.", () => process.memoryUsage().heapUsed),
    makeGauge("process_cpu_seconds_total", "CPU time.", cpuSeconds, "counter"),
    makeGauge("process_start_time_seconds", "Start time of the process, in Unix time.", () => startedAt),
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
