import { waitAtMost } from "../../base/time-limit.ts";
import { LonghaulError } from "../../index.ts";
import type { MonitorSample } from "../../log-entry.ts";
import { MEMORY_GAUGES } from "./memory-metrics.ts";

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

const PACKAGES =
  "@opentelemetry/sdk-metrics @opentelemetry/exporter-metrics-otlp-http @opentelemetry/resources";
const NO_EXPORT: MemoryExport = { flush: async () => {}, close: async () => {} };
const EXPORT_MS = 5_000;
const CLOSE_MS = 5_000;

/** Connects to a receiver of metrics, if one is configured. Throws PACKAGE_MISSING if OpenTelemetry is not installed. */
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

async function loadPackages() {
  try {
    const [sdk, otlp, resources] = await Promise.all([
      import("@opentelemetry/sdk-metrics"),
      import("@opentelemetry/exporter-metrics-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
    return { sdk, otlp, resources };
  } catch (cause) {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      `telemetry.metrics is on, but OpenTelemetry could not be loaded. Install it (npm install ${PACKAGES}), or set telemetry.metrics to false.`,
      { cause, details: { package: "@opentelemetry/sdk-metrics" } },
    );
  }
}

function findMetricsUrl(endpoint: string | undefined, environment: NodeJS.ProcessEnv): string | undefined {
  if (environment.OTEL_SDK_DISABLED === "true") return undefined;
  if (!endpoint && environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)
    return environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT;
  const base = (endpoint || environment.OTEL_EXPORTER_OTLP_ENDPOINT)?.replace(/\/$/, "");
  if (!base) return undefined;
  return `${base.replace(/\/v1\/traces$/, "")}/v1/metrics`;
}
