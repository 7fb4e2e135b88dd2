import { describe, expect, test } from "vitest";
import { plainPaint } from "../../src/cli/terminal/paint.ts";
import { renderTable } from "../../src/cli/terminal/table.ts";
import { measureWidth } from "../../src/cli/terminal/width.ts";

const COLUMNS = [
  { title: "id", shrinks: "last" },
  { title: "title", shrinks: "first" },
  { title: "count", align: "right" },
] as const;

describe("a table", () => {
  test("a table aligns its columns, with numbers to the right", () => {
    const rows = [
      ["a", "日本", "1"],
      ["bc", "x", "1,000"],
    ];
    expect(renderTable(COLUMNS, rows, { width: 80, paint: plainPaint })).toEqual([
      "id  title  count",
      "a   日本       1",
      "bc  x      1,000",
    ]);
  });

  test("a table fits the terminal by cutting shrinkable columns, in their order", () => {
    const rows = [["an-id-of-thirty-columns-in-all", "a title that is rather long for this terminal", "12"]];
    const wide = renderTable(COLUMNS, rows, { width: 60, paint: plainPaint });
    expect(wide[1]).toContain("an-id-of-thirty-columns-in-all");
    expect(wide.map(measureWidth)).toEqual([60, 60]);
    const narrow = renderTable(COLUMNS, rows, { width: 40, paint: plainPaint });
    expect(narrow.map(measureWidth)).toEqual([40, 40]);
    expect(narrow[1]).toMatch(/^an-id-.*… {2}a title tha… {5}12$/);
  });

  test("a table keeps a cell on one line, whatever the text", () => {
    const [, row] = renderTable([{ title: "t" }], [["one\ntwo\u001b[2J"]], { width: 80, paint: plainPaint });
    expect(row).toBe("one two\\x1b[2J");
  });
});
