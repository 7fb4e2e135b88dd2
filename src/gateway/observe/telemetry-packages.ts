import { LonghaulError } from "../../index.ts";

const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
].join(" ");

/** The part of OpenTelemetry that is used. */
interface Telemetry {
  readonly api: Pick<
    typeof import("@opentelemetry/api"),
    "trace" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "createTraceState"
  >;
  readonly sdk: Pick<
    typeof import("@opentelemetry/sdk-trace"),
    "TracerProvider" | "ParentBasedSampler" | "AlwaysOnSampler" | "BatchSpanProcessor"
  >;
  readonly exporter: Pick<typeof import("@opentelemetry/exporter-trace-otlp-http"), "OTLPTraceExporter">;
  readonly resources: Pick<
    typeof import("@opentelemetry/resources"),
    "defaultResource" | "resourceFromAttributes"
  >;
}

/** Imports OpenTelemetry, which is optional. Throws PACKAGE_MISSING if it is not installed. */
export async function loadTelemetry(): Promise<Telemetry> {
  try {
    const [api, sdk, exporter, resources] = await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
    return { api, sdk, exporter, resources };
  } catch (cause) {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      `telemetry.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT is set, but OpenTelemetry could not be loaded. Install it (npm install ${PACKAGES}), or remove the setting.`,
      { cause, details: { package: "@opentelemetry/sdk-trace" } },
    );
  }
}
