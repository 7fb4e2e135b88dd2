import { formatTime } from "../../format/time.ts";
import { memoryText as text } from "./memory-text.ts";

interface Dates {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/** The dates of a memory in words, and whether it holds now; undefined if it always holds. */
export function describeValidity(
  { from, until }: Dates,
  now = Date.now(),
): { readonly words: string; readonly isNow: boolean } | undefined {
  if (from === undefined && until === undefined) return undefined;
  if (until !== undefined && until <= now)
    return { words: text("heldUntil", { until: formatTime(until) }), isNow: false };
  if (from !== undefined && from > now)
    return { words: text("holdsFrom", { from: formatTime(from) }), isNow: false };
  if (until === undefined) return { words: text("holdsSince", { from: formatTime(from) }), isNow: true };
  return { words: text("holdsUntil", { until: formatTime(until) }), isNow: true };
}

/** A time as the value of a field for date and time, in the reader's time zone. */
export function toFieldValue(at: number | undefined): string {
  if (at === undefined) return "";
  const local = new Date(at - 60_000 * new Date(at).getTimezoneOffset());
  return local.toISOString().slice(0, 16);
}

/** The time of a field for date and time; null if it is empty. */
export function readFieldTime(value: FormDataEntryValue | null): number | null {
  const at = typeof value === "string" && value !== "" ? new Date(value).getTime() : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
