import { saveFile } from "./save-file.ts";

/** Saves rows as a CSV file. A cell that a spreadsheet would compute is written as text. */
export function saveCsv(
  name: string,
  rows: readonly (readonly (string | number | null | undefined)[])[],
): void {
  const text = rows.map((row) => row.map(toCell).join(",")).join("\r\n");
  saveFile(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" }), name);
}

function toCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}
