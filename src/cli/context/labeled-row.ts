import { escapeLine } from "../terminal/escape.ts";
import type { Paint } from "../terminal/paint.ts";
import { fitText, padText } from "../terminal/width.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** A labeled value. */
export type LabeledRow = readonly [name: string, words: string];

const INDENT = "  ";
/** Minimum columns for a value next to its name; with fewer, it goes below the name. */
const MIN_VALUE_COLUMNS = 28;

/** Formats rows with aligned values, escaped and wrapped to the terminal width. */
export function renderRows(rows: readonly LabeledRow[], columns: number, paint: Paint): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const margin = INDENT.repeat(2) + " ".repeat(width);
  return rows.flatMap(([name, words]) => {
    const room = columns - margin.length;
    if (room < MIN_VALUE_COLUMNS) {
      const below = wrapText(escapeLine(words), columns - 2 * INDENT.length);
      return [paint("dim", fitText(INDENT + name, columns)), ...below.map((line) => INDENT + INDENT + line)];
    }
    const [first = "", ...more] = wrapText(escapeLine(words), room);
    const head = paint("dim", INDENT + padText(name, width));
    return [`${head}${INDENT}${first}`, ...more.map((line) => margin + line)];
  });
}
