import { shellText } from "../i18n/shell-text.ts";
import { getFormat } from "./format-cache.ts";

/** A value that may be unknown, and is then shown as "n/a", never as a guess. */
export type Maybe<Value> = Value | null | undefined;

/** Formats a number with all its digits. */
export function formatCount(value: Maybe<number>): string {
  return formatNumber(value, {});
}

/** Formats a number in short form: 1.2M, 48k. */
export function formatShort(value: Maybe<number>): string {
  return formatNumber(value, { notation: "compact", maximumSignificantDigits: 3 });
}

/** Formats a share from 0 to 1. */
export function formatShare(value: Maybe<number>, digits = 0): string {
  return formatNumber(value, {
    style: "percent",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Formats US dollars: cents, and more digits for amounts below one cent, or as many as asked for. */
export function formatMoney(value: Maybe<number>, wanted?: number): string {
  const size = Math.abs(value ?? 0);
  const digits = wanted ?? (size > 0 && size < 0.01 ? 4 : 2);
  return formatNumber(value, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Formats a number of bytes. */
export function formatBytes(value: Maybe<number>): string {
  const size = Math.abs(value ?? 0);
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log(size || 1) / Math.log(1_000))));
  const scaled = value === null || value === undefined ? value : value / 1_000 ** step;
  return formatNumber(scaled, {
    style: "unit",
    unit: UNITS[step] as string,
    maximumFractionDigits: step > 1 ? 1 : 0,
  });
}

function formatNumber(value: Maybe<number>, options: Intl.NumberFormatOptions): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return shellText("notAvailable");
  return getFormat(Intl.NumberFormat, options).format(value);
}
