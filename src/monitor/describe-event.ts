import type { MonitorSample, ReliefReport } from "./monitor-sample.ts";

/** A sentence about a change of the pressure. */
export function describePressure(
  { level, usedBytes, heapUsedBytes, heapLimitBytes, cacheBytes, rssBytes }: MonitorSample,
  limits: { readonly warningBytes: number; readonly criticalBytes: number },
): string {
  const used = `${toMegabytes(usedBytes)} in use (heap ${toMegabytes(heapUsedBytes)} of ${toMegabytes(heapLimitBytes)}, resident ${toMegabytes(rssBytes)}, caches ${toMegabytes(cacheBytes)})`;
  if (level === "normal") return `Memory is back to normal: ${used}.`;
  if (level === "warning")
    return `Memory is above the warning limit of ${toMegabytes(limits.warningBytes)}: ${used}.`;
  return `Memory is critical, limit ${toMegabytes(limits.criticalBytes)}: ${used}. Caches are dropped now.`;
}

/** A sentence about a relief. */
export function describeRelief(report: ReliefReport): string {
  const { cacheBytesBefore, cacheBytesAfter, journalBytes, heapBytesBefore, heapBytesAfter, cacheShare } =
    report;
  const heap = `heap ${toMegabytes(heapBytesBefore)} → ${toMegabytes(heapBytesAfter)}`;
  return `Freed ${toMegabytes(cacheBytesBefore - cacheBytesAfter)} of ${toMegabytes(cacheBytesBefore)} of caches and ${toMegabytes(journalBytes)} of the write-ahead log; ${heap}; caches may use ${Math.round(cacheShare * 100)}% of their limits for now.`;
}

/** A sentence about images that left the cache. */
export function describeImages(count: number, freedBytes: number): string {
  return `${count} ${count === 1 ? "image" : "images"} and other files left the cache: ${toMegabytes(freedBytes)} freed.`;
}

/** A sentence about steady growth. */
export function describeGrowth(perHour: number, { usedBytes }: MonitorSample): string {
  return `Memory grows steadily by ${toMegabytes(perHour)} an hour, now ${toMegabytes(usedBytes)}; something may hold on to it.`;
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes >= 1e8 ? 0 : 1)} MB`;
}
