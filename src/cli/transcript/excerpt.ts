import { countOf } from "../count.ts";
import { escapeText } from "../escape.ts";
import { fitTo } from "../width.ts";

/** Size limits of an excerpt. */
export interface Room {
  /** Maximum lines; all if absent. */
  readonly lines?: number;
  /** Maximum columns of a line. */
  readonly columns: number;
}

/** Maximum line length of an excerpt if the terminal sets no limit. */
const MOST_COLUMNS = 400;

/** Returns the first lines of a text, escaped, with a count of the omitted lines. */
export function excerptLines(text: string, { lines: most, columns }: Room): readonly string[] {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") end--;
  const lines = escapeText(text.slice(0, end)).split("\n");
  if (most === undefined) return lines;
  const width = Math.min(columns, MOST_COLUMNS);
  const shown = lines.slice(0, most).map((line) => fitTo(line, width));
  const missing = lines.length - most;
  return missing > 0 ? [...shown, `… ${countOf(missing, "more line")}`] : shown;
}
