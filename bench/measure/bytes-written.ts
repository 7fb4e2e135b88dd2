import { readFileSync } from "node:fs";

/** Bytes this process has written so far; null where the system does not count them. */
export function bytesWritten(): number | null {
  if (process.platform !== "linux") return null;
  const wchar = /^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1];
  return wchar === undefined ? null : Number(wchar);
}
