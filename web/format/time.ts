import { shellText } from "../i18n/shell-text.ts";
import { getFormat } from "./format-cache.ts";
import type { Maybe } from "./number.ts";

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
const MAX_RELATIVE_MS = 7 * 86_400_000;

/** Formats a time as people say it: "5 min ago", and a date if it is older than a week. */
export function formatAgo(at: Maybe<number>, now = Date.now()): string {
  if (at === null || at === undefined) return shellText("notAvailable");
  const passed = now - at;
  if (Math.abs(passed) > MAX_RELATIVE_MS) return formatDay(at);
  const [unit, ms] = STEPS.find(([, size]) => Math.abs(passed) >= size) ?? [];
  if (!unit || !ms) return shellText("justNow");
  const format = getFormat(Intl.RelativeTimeFormat, { numeric: "auto", style: "short" } as const);
  return format.format(-Math.trunc(passed / ms), unit);
}

/** Formats a date. */
export function formatDay(at: Maybe<number>): string {
  return formatDate(at, { dateStyle: "medium" });
}

/** Formats a day that is given in UTC, as usage is: its date. */
export function formatUtcDay(at: Maybe<number>): string {
  return formatDate(at, { dateStyle: "medium", timeZone: "UTC" });
}

/** Formats a day in UTC in short form: month and day. */
export function formatShortDay(at: Maybe<number>): string {
  return formatDate(at, { month: "short", day: "numeric", timeZone: "UTC" });
}

/** Formats date and time to the second. */
export function formatTime(at: Maybe<number>): string {
  return formatDate(at, { dateStyle: "medium", timeStyle: "medium" });
}

/** Formats a time of day. */
export function formatClock(at: Maybe<number>): string {
  return formatDate(at, { timeStyle: "short" });
}

/** Formats a time of day to the second. */
export function formatSeconds(at: Maybe<number>): string {
  return formatDate(at, { timeStyle: "medium" });
}

function formatDate(at: Maybe<number>, options: Intl.DateTimeFormatOptions): string {
  if (at === null || at === undefined) return shellText("notAvailable");
  return getFormat(Intl.DateTimeFormat, options).format(at);
}

/** Formats a duration in its largest two units: "3 h 20 min". */
export function formatDuration(ms: Maybe<number>): string {
  if (ms === null || ms === undefined) return shellText("notAvailable");
  if (ms < 1_000) return formatUnit(Math.round(ms), "millisecond");
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return formatUnit(seconds, "second");
  if (seconds < 3_600) return join([Math.floor(seconds / 60), "minute"], [seconds % 60, "second"]);
  if (seconds < 86_400)
    return join([Math.floor(seconds / 3_600), "hour"], [Math.floor((seconds % 3_600) / 60), "minute"]);
  return join([Math.floor(seconds / 86_400), "day"], [Math.floor((seconds % 86_400) / 3_600), "hour"]);
}

function join(...pieces: readonly (readonly [number, string])[]): string {
  return pieces
    .filter(([count], index) => index === 0 || count > 0)
    .map(([count, unit]) => formatUnit(count, unit))
    .join(" ");
}

function formatUnit(count: number, unit: string): string {
  return getFormat(Intl.NumberFormat, { style: "unit", unit, unitDisplay: "short" } as const).format(count);
}
