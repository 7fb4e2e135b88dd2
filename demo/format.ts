/** Formats 100000 as "100,000". */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** Formats bytes with a suitable unit; 1 MB is 10^6 bytes. */
export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes);
  if (size < 1_000) return `${bytes} B`;
  if (size < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  if (size < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

/** Formats a duration with the significant digits. */
export function formatMs(ms: number): string {
  if (ms < 1) return `${ms.toFixed(3)} ms`;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
