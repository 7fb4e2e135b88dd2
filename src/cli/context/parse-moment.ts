import { DAY, HOUR, MINUTE, parseLength, parseTime, SECOND, type TimeUnits } from "../times.ts";
import { UsageError } from "../usage-error.ts";

const UNITS: TimeUnits = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Parses a moment: an age such as "30m" or "2h", or an ISO time; a time without a zone is local. */
export function parseMoment(option: string, text: string, now: number): number {
  const age = parseLength(text.replace(/\s+ago\s*$/i, ""), UNITS);
  const time = age === undefined ? parseTime(text) : now - age;
  if (time !== undefined) return time;
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; expected a duration such as 30m or 2h, or a time such as 2026-01-01T12:00`,
  );
}
