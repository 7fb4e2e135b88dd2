import type { PressureLevel } from "./monitor-sample.ts";

/** Limits of memory. */
interface PressureLimits {
  readonly warningBytes: number;
  readonly criticalBytes: number;
}

/** Shares of V8's own limit that count as pressure whatever the configured limits are. */
const HEAP_WARNING = 0.7;
const HEAP_CRITICAL = 0.85;

/** The level of a measurement: by the limits, and by how close the heap is to the size at which V8 ends the process. */
export function judgePressure(
  usage: { readonly usedBytes: number; readonly heapUsedBytes: number; readonly heapLimitBytes: number },
  { warningBytes, criticalBytes }: PressureLimits,
): PressureLevel {
  const { usedBytes, heapUsedBytes, heapLimitBytes } = usage;
  const share = heapLimitBytes > 0 ? heapUsedBytes / heapLimitBytes : 0;
  if (usedBytes >= criticalBytes || share >= HEAP_CRITICAL) return "critical";
  return usedBytes >= warningBytes || share >= HEAP_WARNING ? "warning" : "normal";
}
