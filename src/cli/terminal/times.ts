export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Lengths of time by their unit, in milliseconds. */
export type TimeUnits = Readonly<Record<string, number>>;

/** Parses a length of time such as "30m" in these units into milliseconds; undefined for other text. */
export function parseLength(text: string, units: TimeUnits): number | undefined {
  const found = /^(\d+)\s*([a-z]+)$/i.exec(text.trim());
  const unit = (found?.[2] ?? "").toLowerCase();
  return found && Object.hasOwn(units, unit) ? Number(found[1]) * (units[unit] as number) : undefined;
}

/**
 * Parses an ISO day or time into milliseconds since 1970; undefined for other text and for days that do not exist. A
 * day begins at local midnight, and a time without a zone is local.
 */
export function parseTime(text: string): number | undefined {
  const [, day] = /^(\d{4}-\d{2}-\d{2})/.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return undefined;
  // Date.parse would read a day without a time as UTC.
  const time = Date.parse(day === text ? `${text}T00:00` : text);
  return Number.isFinite(time) ? time : undefined;
}

/** Date.parse reads days that do not exist as days of the next month. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00Z`);
  return Number.isFinite(date.getTime()) && date.toISOString().startsWith(text);
}
