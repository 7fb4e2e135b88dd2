import { DAY, HOUR, MINUTE, parseLength, SECOND, type TimeUnits } from "../terminal/times.ts";
import { UsageError } from "../usage-error.ts";

const DURATIONS: TimeUnits = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };
const SIZES: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Parses a duration such as "500ms", "90s", "10m", "2h" or "1d" into milliseconds; throws UsageError. */
export function parseDuration(option: string, text: string): number {
  const length = parseLength(text, DURATIONS);
  if (length !== undefined) return length;
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; expected a duration such as 90s, 10m, 2h or 1d`,
  );
}

/** Parses a size such as "4096", "64k", "10m" or "1GB" into bytes, in units of 1024; throws UsageError. */
export function parseSize(option: string, text: string): number {
  const found = /^(\d+)\s*([kmg]?)i?b?$/i.exec(text.trim());
  const size = found ? Number(found[1]) * (SIZES[(found[2] ?? "").toLowerCase()] as number) : 0;
  if (size >= 1) return size;
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; expected a number of bytes, such as 64k, 10m or 1g`,
  );
}
