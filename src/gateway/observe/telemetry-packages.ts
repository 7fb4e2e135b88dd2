import { LonghaulError } from "../../index.ts";

const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
].join(" ");

/** Imports OpenTelemetry, which only those need who send spans. Throws PACKAGE_MISSING where it is not installed. */
export async function loadTelemetry() {
  try {
    const [api, sdk, exporter, resources] = await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
    return { ...api, ...sdk, ...exporter, ...resources };
  } catch (cause) {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      `telemetry.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT is set, but OpenTelemetry could not be loaded. Install it (npm install ${PACKAGES}), or take the setting away.`,
      { cause, details: { package: "@opentelemetry/sdk-trace" } },
    );
  }
}
