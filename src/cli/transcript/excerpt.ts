import { countOf } from "../count.ts";
import { escapeText } from "../escape.ts";
import { fitTo } from "../width.ts";

/** How much of a long text is shown. */
export interface Room {
  /** Most lines; all when left out. */
  readonly lines?: number;
  /** Most columns of a line. */
  readonly columns: number;
}

/** Longest line of an excerpt where no terminal sets a limit. */
const MOST_COLUMNS = 400;

/** The first lines of a text, safe to print, and how many were left out. */
export function excerptLines(text: string, { lines: most, columns }: Room): readonly string[] {
  const lines = escapeText(text.replace(/\n+$/, "")).split("\n");
  if (most === undefined) return lines;
  const width = Math.min(columns, MOST_COLUMNS);
  const shown = lines.slice(0, most).map((line) => fitTo(line, width));
  const missing = lines.length - most;
  return missing > 0 ? [...shown, `… ${countOf(missing, "more line")}`] : shown;
}
