import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { fitTo, padTo } from "../width.ts";
import { wrapTo } from "../wrap.ts";

/** A labeled value. */
export type Row = readonly [name: string, words: string];

const INDENT = "  ";
/** Minimum columns for a value next to its name; with fewer, it goes below the name. */
const LEAST_BESIDE = 28;

/** Formats rows with aligned values, escaped and wrapped to the terminal width. */
export function rowLines(rows: readonly Row[], columns: number, paint: Paint): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const margin = INDENT.repeat(2) + " ".repeat(width);
  return rows.flatMap(([name, words]) => {
    const room = columns - margin.length;
    if (room < LEAST_BESIDE) {
      const below = wrapTo(escapeLine(words), columns - 2 * INDENT.length);
      return [paint("dim", fitTo(INDENT + name, columns)), ...below.map((line) => INDENT + INDENT + line)];
    }
    const [first = "", ...more] = wrapTo(escapeLine(words), room);
    const head = paint("dim", INDENT + padTo(name, width));
    return [`${head}${INDENT}${first}`, ...more.map((line) => margin + line)];
  });
}
