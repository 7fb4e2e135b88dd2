import type { AgentHistory } from "../../histories/index.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import type { Paint } from "../terminal/paint.ts";
import { type Column, renderTable } from "../terminal/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "agent" },
  { title: "conversations", align: "right" },
  { title: "not in the store", align: "right" },
  { title: "deleted in 7 days", align: "right" },
  { title: "in 30 days", align: "right" },
  { title: "its rule", shrinks: "first", look: "dim" },
];

/** Formats what each agent keeps and deletes as a table; empty without histories. */
export function renderHistories(
  histories: readonly AgentHistory[],
  options: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  if (histories.length === 0) return [];
  const rows = histories.map(
    ({ title, conversations, notStored, deletedWithin7Days, deletedWithin30Days, retention }) => [
      title,
      ...[conversations, notStored, deletedWithin7Days, deletedWithin30Days].map(formatCount),
      retention.rule,
    ],
  );
  return renderTable(COLUMNS, rows, options);
}

/** Says how many conversations their agents will delete before the store has them; undefined if none. */
export function describeThreatened(histories: readonly AgentHistory[]): string | undefined {
  const sum = (count: (one: AgentHistory) => number) =>
    histories.reduce((total, one) => total + count(one), 0);
  const soon = sum((one) => one.deletedWithin7Days);
  const later = sum((one) => one.deletedWithin30Days);
  if (later === 0) return undefined;
  const titles = histories.filter((one) => one.deletedWithin30Days > 0).map(({ title }) => title);
  const who = titles.length === 1 ? `${titles[0]} deletes` : `${titles.join(", ")} delete`;
  return `${who} ${formatQuantity(later, "conversation")} within 30 days, ${formatCount(soon)} of them within 7 days, and the store does not have them`;
}

/** The commands that keep conversations. */
export const KEEP_COMMANDS =
  '"longhaul import --yes" keeps them, "longhaul service install" keeps all that follow';
