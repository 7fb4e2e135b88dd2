import { escapeLine } from "./escape.ts";
import type { Look, Paint } from "./paint.ts";
import { fitText, measureWidth, padText } from "./width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  readonly look?: Look;
  /**
   * When to shrink if the table is wider than the terminal; "last" only after all "first" columns are at their minimum.
   */
  readonly shrinks?: "first" | "last";
}

const GAP = "  ";
const MIN_WIDTH = 12;

/** Builds the lines of a table with a header row. Cells are escaped, and shrinking columns are cut to fit the width. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  // Leading spaces are the caller's indent; the rest of a cell is untrusted text.
  const cells = rows.map((row) => row.map((cell) => (/^ */.exec(cell)?.[0] ?? "") + escapeLine(cell)));
  const widths = columns.map(({ title }, index) =>
    Math.max(measureWidth(title), ...cells.map((row) => measureWidth(row[index] ?? ""))),
  );
  shrinkColumns(widths, columns, width);
  const line = (row: readonly string[], look: (column: Column) => Look | undefined) =>
    columns
      .map((column, index) => {
        const cell = fitText(row[index] ?? "", widths[index] as number);
        const isLast = index === columns.length - 1 && column.align !== "right";
        const padded = isLast ? cell : padText(cell, widths[index] as number, column.align);
        const chosen = look(column);
        return chosen && padded.trim() !== "" ? paint(chosen, padded) : padded;
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    columns.map(({ title }) => title),
    () => "bold",
  );
  return [head, ...cells.map((row) => line(row, ({ look }) => look))];
}

/** Shrinks the widest shrinkable column repeatedly until the table fits. */
function shrinkColumns(widths: number[], columns: readonly Column[], width: number): void {
  for (const turn of ["first", "last"]) {
    const indexes = columns.flatMap(({ shrinks }, index) => (shrinks === turn ? [index] : []));
    for (let over = sumWidths(widths) - width; over > 0; over = sumWidths(widths) - width) {
      const [widest, next] = indexes.sort((a, b) => (widths[b] as number) - (widths[a] as number));
      if (widest === undefined || (widths[widest] as number) <= MIN_WIDTH) break;
      const floor = Math.max(MIN_WIDTH, next === undefined ? 0 : (widths[next] as number) - 1);
      widths[widest] = Math.max(floor, (widths[widest] as number) - over);
    }
  }
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
}
