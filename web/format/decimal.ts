import { language } from "../i18n/language.ts";
import { shellText } from "../i18n/shell-text.ts";
import type { Maybe } from "./number.ts";

/** Formats a number with two digits after the point, such as a score; with its sign if asked. */
export function formatDecimal(value: Maybe<number>, isSigned = false): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return shellText("notAvailable");
  return new Intl.NumberFormat(language.value, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    signDisplay: isSigned ? "exceptZero" : "auto",
  }).format(value);
}
