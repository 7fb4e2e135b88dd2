import { UsageError } from "../usage-error.ts";
import { formatCount, formatShare } from "./format-count.ts";

const UNITS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** Parses a token count such as 64000, 64k or 1m; throws UsageError for other text and for less than `least`. */
export function parseTokensOption(option: string, text: string, least = 0): number {
  const match = /^(\d+(?:\.\d+)?)\s*([km])?$/i.exec(text.trim());
  const tokens = match ? Math.round(Number(match[1]) * (UNITS[(match[2] ?? "").toLowerCase()] ?? 1)) : -1;
  if (tokens >= least && Number.isSafeInteger(tokens)) return tokens;
  const from = least > 0 ? ` (at least ${formatCount(least)})` : "";
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; expected a number of tokens${from}, such as 64000 or 64k`,
  );
}

/** Formats token counts before and after a change: "120,000 → 48,000 tokens (−60%)". */
export function formatTokenChange(before: number, after: number): string {
  const share = formatShare(Math.abs(after - before), before);
  const sign = after < before ? "−" : "+";
  const change = before === after || share === "" ? "" : ` (${sign}${share})`;
  return `${formatCount(before)} → ${formatCount(after)} tokens${change}`;
}
