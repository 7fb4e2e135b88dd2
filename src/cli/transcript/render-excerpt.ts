import { escapeText } from "../escape.ts";
import { formatQuantity } from "../format-count.ts";
import { fitText } from "../width.ts";

/** Size limits of an excerpt. */
interface ExcerptLimits {
  /** Maximum lines; all if absent. */
  readonly lines?: number;
  /** Maximum columns of a line. */
  readonly columns: number;
}

/** Maximum line length of an excerpt if the terminal sets no limit. */
const MAX_COLUMNS = 400;

/** Returns the first lines of a text, escaped, with a count of the omitted lines. */
export function renderExcerpt(text: string, { lines: most, columns }: ExcerptLimits): readonly string[] {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") end--;
  const lines = escapeText(text.slice(0, end)).split("\n");
  if (most === undefined) return lines;
  const width = Math.min(columns, MAX_COLUMNS);
  const shown = lines.slice(0, most).map((line) => fitText(line, width));
  const missing = lines.length - most;
  return missing > 0 ? [...shown, `… ${formatQuantity(missing, "more line")}`] : shown;
}
