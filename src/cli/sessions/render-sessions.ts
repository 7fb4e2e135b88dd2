import { formatCount } from "../format-count.ts";
import { formatAge } from "../format-time.ts";
import { groupFamilies } from "../group-families.ts";
import { formatCost } from "../spending/render-spending.ts";
import { type Column, renderTable } from "../table.ts";
import type { SessionRow } from "./session-row.ts";

/** From this width on, the table has room for ids and counts. */
const WIDE_COLUMNS = 120;

const COLUMNS: readonly Column[] = [
  { title: "#", align: "right", look: "dim" },
  { title: "title", shrinks: "first" },
  { title: "agent" },
  { title: "project", shrinks: "last" },
  { title: "model", shrinks: "last" },
  { title: "cost", align: "right" },
  { title: "used", align: "right" },
];
const WIDE: readonly Column[] = [
  ...COLUMNS,
  { title: "entries", align: "right" },
  { title: "session", look: "cyan" },
];

/** Orders rows for the listing: each child right below its parent. */
export function orderRows(rows: readonly SessionRow[]): readonly (SessionRow & { readonly depth: number })[] {
  const byId = new Map(rows.map((row) => [row.record.id, row]));
  return groupFamilies(rows.map(({ record }) => record)).flatMap(({ session, depth }) => {
    const row = byId.get(session.id);
    return row ? [{ ...row, depth }] : [];
  });
}

/** Formats the listing as a table; `first` is the number of its first session. */
export function renderSessions(
  rows: readonly (SessionRow & { readonly depth: number })[],
  first: number,
  options: Parameters<typeof renderTable>[2],
): readonly string[] {
  if (rows.length === 0) return ["No sessions."];
  const now = Date.now();
  const isWide = options.width >= WIDE_COLUMNS;
  const cells = rows.map(({ record, depth, agent, project, model, totals, usedAt, entries }, index) => {
    const mark = record.relation === "fork" ? "⑂ " : record.relation === "child" ? "└ " : "";
    return [
      String(first + index),
      `${"  ".repeat(depth)}${mark}${record.title ?? record.id}`,
      agent ?? "",
      project ?? "",
      model === undefined ? "" : isWide ? model : shortenModel(model),
      totals.requests > 0 ? formatCost(totals) : "",
      formatAge(usedAt, now),
      ...(isWide ? [formatCount(entries), record.id] : []),
    ];
  });
  return renderTable(isWide ? WIDE : COLUMNS, cells, options);
}

/** Drops the vendor, the family name "claude" and the date of a model id. */
function shortenModel(model: string): string {
  return model
    .replace(/^.*\//, "")
    .replace(/^claude-/, "")
    .replace(/-(?:20)\d{6}$/, "");
}
