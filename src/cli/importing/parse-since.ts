import { DAY, HOUR, parseLength, parseTime, type TimeUnits } from "../terminal/times.ts";
import { UsageError } from "../usage-error.ts";

/** Conversations are old, so "m" is a month here. */
const UNITS: TimeUnits = { h: HOUR, d: DAY, w: 7 * DAY, m: 30 * DAY, y: 365 * DAY };

/** Parses an age such as "30d", a day such as "2026-01-01" or an ISO time; a day begins at local midnight. */
export function parseSince(text: string, now: number): number {
  const age = parseLength(text, UNITS);
  const time = age === undefined ? parseTime(text) : now - age;
  if (time !== undefined) return time;
  throw new UsageError(
    `--since is ${JSON.stringify(text)}; expected a duration such as 12h, 30d, 8w, 6m, 1y, or a day such as 2026-01-01`,
  );
}
