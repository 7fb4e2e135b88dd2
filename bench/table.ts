import type { Row } from "./result.ts";

/** Fixed widths, so that each row can be printed as soon as it is measured. */
const COLUMNS = [
  { title: "id", width: 28, right: false },
  { title: "value", width: 12, right: true },
  { title: "unit", width: 17, right: false },
  { title: "beside", width: 36, right: false },
  { title: "its value", width: 12, right: true },
  { title: "ratio", width: 8, right: true },
  { title: "goal", width: 18, right: false },
  { title: "met", width: 3, right: false },
] as const;

/** The header line and rule of the table. */
export function tableHead(): string {
  const titles = COLUMNS.map(({ title }) => title);
  const rules = COLUMNS.map(({ width }) => "─".repeat(width));
  return `${joinCells(titles)}\n${joinCells(rules)}`;
}

export function tableLine(row: Row): string {
  return joinCells([
    row.id,
    row.value === null ? "skipped" : formatNumber(row.value),
    row.unit,
    row.beside ?? "",
    row.beside === null ? "" : row.besideValue === null ? "–" : formatNumber(row.besideValue),
    row.ratio === null ? "" : formatNumber(row.ratio),
    row.goal ?? "",
    row.met === null ? "–" : row.met ? "yes" : "no",
  ]);
}

/** Integers in groups of three digits, others with three significant digits. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(3)).toString();
}

function joinCells(cells: readonly string[]): string {
  return COLUMNS.map(({ width, right }, index) => {
    const cell = cells[index] ?? "";
    return right ? cell.padStart(width) : cell.padEnd(width);
  })
    .join("  ")
    .trimEnd();
}
