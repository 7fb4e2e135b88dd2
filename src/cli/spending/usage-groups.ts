import type { NamedTotals, UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { SessionRecord } from "../../index.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { findSessionOwner } from "../../model/session-owner.ts";

/** Ways to group usage. */
export const GROUPINGS = [
  { name: "day" },
  { name: "model" },
  { name: "session" },
  { name: "project" },
  { name: "agent" },
  { name: "person" },
  { name: "request" },
] as const;

export type Grouping = (typeof GROUPINGS)[number]["name"];

/** The group of a session's requests; undefined if days, models or requests are the groups. `names` are those of people by id. */
export function findGroup(
  record: SessionRecord,
  by: Grouping,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (by === "session") return record.id;
  if (by === "project") return findOrigin(record).project ?? "(unknown)";
  if (by === "agent") return findOrigin(record).agent ?? "(unknown)";
  return by === "person" ? findSessionOwner(record.id, names) : undefined;
}

/** The rows of a report. */
export function selectRows(sums: UsageSums, by: Grouping): readonly NamedTotals[] {
  if (by === "request") return [];
  return by === "day" ? sums.days : by === "model" ? sums.models : sums.groups;
}
