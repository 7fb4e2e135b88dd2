/** 100000 as "100,000". */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** Bytes in the unit a person would choose; 1 MB is a million bytes, as on the label of a disk. */
export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes);
  if (size < 1_000) return `${bytes} B`;
  if (size < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  if (size < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

/** A length of time with as many digits as matter. */
export function formatMs(ms: number): string {
  if (ms < 1) return `${ms.toFixed(3)} ms`;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
