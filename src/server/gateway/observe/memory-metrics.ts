import type { MonitorSample } from "../../../kernel/faces/log.ts";
import { waitAtMost } from "../../../model/base/time-limit.ts";
import { createGaugeMetric, type Metric } from "./metric.ts";

/** A number of the monitor under its name in metrics. */
interface MemoryGauge {
  readonly name: string;
  readonly help: string;
  readonly unit: "By" | "ms" | "1";
  readonly type: "gauge" | "counter";
  read(sample: MonitorSample): number;
}

const LEVELS = { normal: 0, warning: 1, critical: 2 } as const;

/** The numbers of the monitor that are not among the process metrics. */
const MEMORY_GAUGES: readonly MemoryGauge[] = [
  gauge(
    "memory_level",
    "Memory pressure: 0 normal, 1 warning, 2 critical.",
    "1",
    ({ level }) => LEVELS[level],
  ),
  gauge("memory_used_bytes", "Heap and external memory in use.", "By", ({ usedBytes }) => usedBytes),
  gauge("memory_growth_bytes_per_hour", "Slope of used memory.", "By", ({ growthPerHour }) => growthPerHour),
  gauge("heap_limit_bytes", "Heap size at which V8 ends the process.", "By", (one) => one.heapLimitBytes),
  gauge("external_bytes", "Memory outside of the heap.", "By", ({ externalBytes }) => externalBytes),
  gauge("cache_bytes", "All caches.", "By", ({ cacheBytes }) => cacheBytes),
  gauge("cache_share", "Share of their limits that caches may use.", "1", ({ cacheShare }) => cacheShare),
  gauge("api_history_messages", "Messages held by windows.", "1", ({ apiHistory }) => apiHistory.count),
  gauge("api_history_bytes", "Bytes held by windows.", "By", ({ apiHistory }) => apiHistory.bytes),
  gauge("waiting_bytes", "Appends that wait for a commit.", "By", ({ waitingBytes }) => waitingBytes),
  counter("messages_stored_total", "Messages stored.", "1", ({ messages }) => messages.count),
  counter("message_bytes_stored_total", "Bytes of messages stored.", "By", ({ messages }) => messages.bytes),
  counter("images_stored_total", "Images stored.", "1", ({ images }) => images.count),
  counter(
    "images_freed_total",
    "Images and other blobs that left the cache.",
    "1",
    ({ freedImages }) => freedImages.count,
  ),
  counter(
    "image_bytes_freed_total",
    "Bytes of images and other blobs that left the cache.",
    "By",
    ({ freedImages }) => freedImages.bytes,
  ),
  counter("image_bytes_stored_total", "Bytes of images stored.", "By", ({ images }) => images.bytes),
  counter("compactions_total", "Summaries made.", "1", ({ compactions }) => compactions.count),
  gauge(
    "compaction_average_ms",
    "Average time of a summary.",
    "ms",
    ({ compactions }) => compactions.averageMs,
  ),
  gauge("save_average_ms", "Average time of a commit.", "ms", ({ saves }) => saves.averageMs),
  gauge("search_average_ms", "Average time of a recall.", "ms", ({ searches }) => searches.averageMs),
  gauge("event_loop_delay_ms", "Mean delay of the event loop.", "ms", ({ eventLoop }) => eventLoop.meanMs),
  gauge(
    "event_loop_delay_max_ms",
    "Longest delay of the event loop.",
    "ms",
    ({ eventLoop }) => eventLoop.maxMs,
  ),
  gauge(
    "event_loop_busy",
    "Share of time that the event loop is busy.",
    "1",
    ({ eventLoop }) => eventLoop.busy,
  ),
  gauge("journal_bytes", "Write-ahead logs.", "By", ({ disk }) => disk.journalBytes),
  gauge("log_bytes", "Database of the log.", "By", ({ disk }) => disk.logBytes),
  gauge("blob_bytes", "Blobs on disk.", "By", ({ disk }) => disk.blobBytes),
  gauge("open_files", "Open files of the process.", "1", ({ files }) => files),
  gauge("process_listeners", "Listeners of the process.", "1", ({ listeners }) => listeners),
  gauge("child_processes", "Child processes.", "1", ({ childProcesses }) => childProcesses),
];

/** The numbers of the monitor's last sample; 0 before the first. */
export function createMemoryMetrics(read: () => MonitorSample | undefined): readonly Metric[] {
  const gauges = MEMORY_GAUGES.map(({ name, help, type, read: readOne }) =>
    createGaugeMetric(
      name,
      help,
      () => {
        const sample = read();
        return sample ? readOne(sample) : 0;
      },
      type,
    ),
  );
  return [...gauges, createCacheMetric(read)];
}

function createCacheMetric(read: () => MonitorSample | undefined): Metric {
  const name = "longhaul_cache_size_bytes";
  return {
    render: () => {
      const lines = (read()?.caches ?? []).map((one) => `${name}{cache="${one.name}"} ${one.sizeBytes}`);
      return [`# HELP ${name} One cache.`, `# TYPE ${name} gauge`, ...lines, ""].join("\n");
    },
  };
}

function gauge(
  name: string,
  help: string,
  unit: MemoryGauge["unit"],
  read: MemoryGauge["read"],
): MemoryGauge {
  return { name: `longhaul_${name}`, help, unit, type: "gauge", read };
}

function counter(
  name: string,
  help: string,
  unit: MemoryGauge["unit"],
  read: MemoryGauge["read"],
): MemoryGauge {
  return { name: `longhaul_${name}`, help, unit, type: "counter", read };
}

/** Sends the numbers of the monitor to OpenTelemetry. */
interface MemoryExport {
  /** Sends the present numbers. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface MemoryExportOptions {
  /** Address of an OTLP/HTTP receiver; defaults to OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint?: string | undefined;
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly intervalMs: number;
  readonly read: () => MonitorSample | undefined;
}

const NO_EXPORT: MemoryExport = { flush: async () => {}, close: async () => {} };
const EXPORT_MS = 5_000;
const CLOSE_MS = 5_000;

/** Connects to a receiver of metrics, if one is configured. */
export async function openMemoryExport(options: MemoryExportOptions): Promise<MemoryExport> {
  const { environment, version, intervalMs, read } = options;
  const url = findMetricsUrl(options.endpoint, environment);
  if (url === undefined) return NO_EXPORT;
  const { sdk, otlp, resources } = await loadPackages();
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: new otlp.OTLPMetricExporter({ url, timeoutMillis: EXPORT_MS }),
    exportIntervalMillis: Math.max(intervalMs, EXPORT_MS),
    exportTimeoutMillis: EXPORT_MS,
  });
  const provider = new sdk.MeterProvider({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        "service.name": environment.OTEL_SERVICE_NAME ?? "longhaul-gateway",
        "service.version": version,
      }),
    ),
    readers: [reader],
  });
  const meter = provider.getMeter("longhaul", version);
  for (const { name, help, unit, type, read: readOne } of MEMORY_GAUGES) {
    const dotted = name.replace("_", ".");
    const settings = { description: help, unit };
    const instrument =
      type === "gauge"
        ? meter.createObservableGauge(dotted, settings)
        : meter.createObservableCounter(dotted, settings);
    instrument.addCallback((result) => {
      const sample = read();
      if (sample) result.observe(readOne(sample));
    });
  }
  return {
    flush: () => provider.forceFlush().catch(() => {}),
    // An unreachable receiver must not delay the end of the process.
    close: () =>
      waitAtMost(
        CLOSE_MS,
        provider.shutdown().catch(() => {}),
      ),
  };
}

/** Loads OpenTelemetry, which only gateways that send metrics need. */
async function loadPackages() {
  const [sdk, otlp, resources] = await Promise.all([
    import("@opentelemetry/sdk-metrics"),
    import("@opentelemetry/exporter-metrics-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  return { sdk, otlp, resources };
}

function findMetricsUrl(endpoint: string | undefined, environment: NodeJS.ProcessEnv): string | undefined {
  if (environment.OTEL_SDK_DISABLED === "true") return undefined;
  if (!endpoint && environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)
    return environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT;
  const base = (endpoint || environment.OTEL_EXPORTER_OTLP_ENDPOINT)?.replace(/\/$/, "");
  if (!base) return undefined;
  return `${base.replace(/\/v1\/traces$/, "")}/v1/metrics`;
}
