import type { Database, Row } from "../database.ts";
import { isDamagedPage } from "../read-around-damage.ts";

/**
 * Rows of a small table, read from both ends as far as damaged pages allow; calls `onLoss` if some could not be read.
 */
export function salvageRows(
  source: Database,
  table: string,
  key: string,
  onLoss: (table: string) => void,
): Row[] {
  const rows = new Map<string, Row>();
  const isWhole = collectRows(source, `SELECT * FROM ${table} ORDER BY ${buildOrder(key, "ASC")}`, key, rows);
  if (isWhole) return [...rows.values()];
  collectRows(source, `SELECT * FROM ${table} ORDER BY ${buildOrder(key, "DESC")}`, key, rows);
  onLoss(table);
  return [...rows.values()];
}

function buildOrder(key: string, direction: "ASC" | "DESC"): string {
  return key
    .split(", ")
    .map((column) => `${column} ${direction}`)
    .join(", ");
}

function collectRows(source: Database, sql: string, key: string, rows: Map<string, Row>): boolean {
  try {
    for (const row of source.prepare(sql).iterate() as Iterable<Row>) {
      const name = key.split(", ").map((column) => toKeyText(row[column]));
      rows.set(name.join(" "), row);
    }
    return true;
  } catch (error) {
    if (isDamagedPage(error)) return false;
    throw error;
  }
}

function toKeyText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}
