const DAY_MS = 86_400_000;

/** Ranges of days that the overview offers; "all" has no first day. */
export const RANGES = ["7", "30", "90", "all"] as const;
export type Range = (typeof RANGES)[number];

/** The first day of a range, in UTC, as in "2026-11-15"; undefined for all days. */
export function findFirstDay(range: Range, now = Date.now()): string | undefined {
  return range === "all" ? undefined : toDay(now - (Number(range) - 1) * DAY_MS);
}

/** The range to open on: 30 days if they have usage, else the first wider range that has some. */
export function findRangeWithData(days: readonly string[], now = Date.now()): Range {
  const last = days.at(-1) ?? "";
  return (["30", "90"] as const).find((range) => last >= (findFirstDay(range, now) ?? "")) ?? "all";
}

/** The day of a time, in UTC. */
export function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** All days from the first to the last one, so that days without usage show as zero. */
export function listDays(first: string, last: string): readonly string[] {
  const days: string[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) days.push(toDay(at));
  return days;
}
