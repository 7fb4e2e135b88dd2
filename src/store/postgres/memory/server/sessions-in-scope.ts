import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../../../model/json.ts";
import type { SourceConditions } from "../../../memory-store.ts";
import type { Sql } from "../../connection/postgres-database.ts";
import type { SqlValue } from "../../connection/sql-values.ts";

/** Sorts after every character of a name. */
const LAST = "\u{10ffff}";

/** The numbers of indexed sessions that meet all conditions, in one statement. */
export async function listSessionsInScope(
  sql: Sql,
  { names, prefix, prefixes, meta, owners }: SourceConditions,
): Promise<readonly number[]> {
  const values: SqlValue[] = [];
  const add = (value: SqlValue) => `$${values.push(value)}`;
  const startsWith = (start: string) =>
    start === "" ? "true" : `(s.name >= ${add(start)} AND s.name < ${add(start + LAST)})`;
  const filters = ["s.kind = 1"];
  if (names) filters.push(`s.name = ANY(${add(names)}::text[])`);
  if (prefix) filters.push(startsWith(prefix));
  if (prefixes) filters.push(prefixes.length === 0 ? "false" : `(${prefixes.map(startsWith).join(" OR ")})`);
  if (owners) {
    const parts = owners.map((owner) => (owner.endsWith("/") ? startsWith(owner) : `s.name = ${add(owner)}`));
    filters.push(parts.length === 0 ? "false" : `(${parts.join(" OR ")})`);
  }
  const wanted = Object.entries(meta ?? {});
  // Metadata is stored as JSON.stringify writes it, so that a plain value can be looked for in the text.
  for (const [key, value] of wanted)
    if (typeof value !== "object")
      filters.push(`strpos(e.meta, ${add(`${JSON.stringify(key)}:${JSON.stringify(value)}`)}) > 0`);
  const rows = await sql.query(
    `SELECT s.number${meta ? ", e.meta" : ""} FROM @sources s ${meta ? "JOIN @sessions e ON e.id = s.name" : ""}
     WHERE ${filters.join(" AND ")}`,
    values,
  );
  return rows.filter(({ meta: own }) => hasValues(own, wanted)).map(({ number }) => number as number);
}

function hasValues(text: unknown, wanted: readonly (readonly [string, Json])[]): boolean {
  if (wanted.length === 0) return true;
  const own = typeof text === "string" ? (JSON.parse(text) as Record<string, Json>) : {};
  return wanted.every(([key, value]) => isDeepStrictEqual(own[key], value));
}
