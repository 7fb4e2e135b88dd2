import { UsageError } from "../usage-error.ts";

const HOUR = 3_600_000;
const UNITS: Readonly<Record<string, number>> = {
  h: HOUR,
  d: 24 * HOUR,
  w: 7 * 24 * HOUR,
  m: 30 * 24 * HOUR,
  y: 365 * 24 * HOUR,
};

/** Parses an age such as "30d", a day such as "2026-01-01" or an ISO time; a day begins at local midnight. */
export function readSince(text: string, now: number): number {
  const length = /^(\d+)\s*([hdwmy])$/i.exec(text);
  if (length) return now - Number(length[1]) * (UNITS[(length[2] as string).toLowerCase()] as number);
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  const time = day ? startOfDay(Number(day[1]), Number(day[2]), Number(day[3])) : Date.parse(text);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && Number.isFinite(time)) return time;
  throw new UsageError(
    `--since is ${JSON.stringify(text)}; expected a length of time such as 12h, 30d, 8w, 6m, 1y, or a day such as 2026-01-01`,
  );
}

/** Returns NaN for a date that does not exist. */
function startOfDay(year: number, month: number, day: number): number {
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : Number.NaN;
}
