import { NO_SAVINGS } from "../../window-entry.ts";
import type { WireName } from "../../wire/wire.ts";
import type { CounterSeries, HistogramSeries } from "./metric.ts";
import type { Metrics } from "./metrics.ts";
import type { Trace } from "./trace.ts";

/** Counts finished requests in the metrics. Each series is looked up once, because labels are formatted as text. */
export class RequestMeter {
  readonly #metrics: Metrics;
  readonly #apis = new Map<WireName, ApiSeries>();
  readonly #bytesIn: () => CounterSeries;
  readonly #bytesOut: () => CounterSeries;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#bytesIn = once(() => metrics.bytes.at({ direction: "in" }));
    this.#bytesOut = once(() => metrics.bytes.at({ direction: "out" }));
  }

  record(trace: Trace): void {
    const metrics = this.#metrics;
    const { api, upstream, usage, savings = NO_SAVINGS } = trace;
    let series = this.#apis.get(api);
    if (!series) {
      series = openSeries(metrics, api);
      this.#apis.set(api, series);
    }
    metrics.people.record(trace);
    series.countStatus(trace.status ?? 0);
    series.duration.observe(((trace.endedMs ?? performance.now()) - trace.startedMs) / 1_000);
    if (trace.overheadMs !== undefined) series.overhead().observe(trace.overheadMs / 1_000);
    if (trace.firstByteMs !== undefined && upstream !== undefined)
      series.firstByte(upstream).observe(trace.firstByteMs / 1_000);
    this.#bytesIn().add(trace.bytesIn ?? 0);
    this.#bytesOut().add(trace.bytesOut ?? 0);
    if (usage) {
      series.inputTokens.add(usage.inputTokens ?? 0);
      series.outputTokens.add(usage.outputTokens ?? 0);
      series.cacheReadTokens.add(usage.cacheReadTokens ?? 0);
      series.cacheWriteTokens.add(usage.cacheWriteTokens ?? 0);
    }
    series.spentDollars.add(trace.spentDollars ?? 0);
    series.removedTokens.add(savings.removedTokens);
    series.savedDollars.add(savings.savedCost);
    series.uneditedDollars.add(savings.withoutCost);
    series.extraWriteDollars.add(savings.extraWriteCost);
    if (trace.isPlanned && !trace.isDryRun) metrics.edits.add({ api });
    if (trace.healed) metrics.healed.add({ api, what: "overflow" }, trace.healed);
    if (trace.error === "stopped") metrics.breakerTrips.add({ reason: "loop" });
    if (trace.recalls) metrics.recalls.add({ api }, trace.recalls);
    if (upstream !== undefined && trace.error !== undefined && trace.error !== "stopped")
      metrics.upstreamErrors.add({ upstream, reason: trace.error });
  }
}

interface ApiSeries {
  readonly countStatus: (status: number) => void;
  readonly duration: HistogramSeries;
  readonly overhead: () => HistogramSeries;
  readonly firstByte: (upstream: string) => HistogramSeries;
  readonly inputTokens: CounterSeries;
  readonly outputTokens: CounterSeries;
  readonly cacheReadTokens: CounterSeries;
  readonly cacheWriteTokens: CounterSeries;
  readonly spentDollars: CounterSeries;
  readonly removedTokens: CounterSeries;
  readonly savedDollars: CounterSeries;
  readonly uneditedDollars: CounterSeries;
  readonly extraWriteDollars: CounterSeries;
}

function openSeries(metrics: Metrics, api: WireName): ApiSeries {
  const statusSeries = keepSeries((status: number) => metrics.requests.at({ api, status: String(status) }));
  return {
    countStatus: (status) => statusSeries(status).add(),
    duration: metrics.duration.at({ api }),
    overhead: once(() => metrics.overhead.at({ api })),
    firstByte: keepSeries((upstream: string) => metrics.firstByte.at({ upstream })),
    inputTokens: metrics.tokens.at({ api, type: "input" }),
    outputTokens: metrics.tokens.at({ api, type: "output" }),
    cacheReadTokens: metrics.tokens.at({ api, type: "cache_read" }),
    cacheWriteTokens: metrics.tokens.at({ api, type: "cache_write" }),
    spentDollars: metrics.spentDollars.at({ api }),
    removedTokens: metrics.removedTokens.at({ api }),
    savedDollars: metrics.savedDollars.at({ api }),
    uneditedDollars: metrics.uneditedDollars.at({ api }),
    extraWriteDollars: metrics.extraWriteDollars.at({ api }),
  };
}

/** A series appears in the metrics when it is first needed, as without this cache. */
function once<Series>(open: () => Series): () => Series {
  let known: Series | undefined;
  return () => {
    known ??= open();
    return known;
  };
}

function keepSeries<Key, Series>(open: (key: Key) => Series): (key: Key) => Series {
  const known = new Map<Key, Series>();
  return (key) => {
    let series = known.get(key);
    if (series === undefined) {
      series = open(key);
      known.set(key, series);
    }
    return series;
  };
}
