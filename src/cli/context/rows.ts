import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { fitTo, padTo } from "../width.ts";
import { wrapTo } from "../wrap.ts";

/** A fact with its name. */
export type Row = readonly [name: string, words: string];

const INDENT = "  ";
/** Columns that words need beside their name; with fewer they stand below it. */
const LEAST_BESIDE = 28;

/** Facts below each other, escaped and broken to the width of the terminal. */
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
