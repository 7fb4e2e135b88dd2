import { UsageError } from "../usage-error.ts";

const SECOND = 1_000;
const UNITS: Readonly<Record<string, number>> = {
  s: SECOND,
  m: 60 * SECOND,
  h: 3_600 * SECOND,
  d: 24 * 3_600 * SECOND,
};

/** Parses a moment: an age such as "30m" or "2h", or an ISO time; a time without a zone is local. */
export function readMoment(option: string, text: string, now: number): number {
  const ago = /^(\d+)\s*([smhd])(?:\s+ago)?$/i.exec(text.trim());
  if (ago) return now - Number(ago[1]) * (UNITS[(ago[2] as string).toLowerCase()] as number);
  // Date.parse would read a date without a time as UTC.
  const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && Number.isFinite(time)) return time;
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; expected how long ago, as in 30m or 2h, or a time such as 2026-01-01T12:00`,
  );
}
