import type { ForeignEdit } from "../port/item.ts";
import type { SessionImportItem } from "./session-import-item.ts";

/** Collects all record ids that items mention. */
export function collectRecordIds(items: readonly SessionImportItem[]): readonly string[] {
  const ids = new Set<string>();
  for (const item of items) {
    if (item.type === "rewind") {
      if (item.to !== null) ids.add(item.to);
    } else if (item.type === "line") {
      for (const record of item.records) ids.add(record);
    } else {
      ids.add(item.id);
      if (typeof item.parent === "string") ids.add(item.parent);
      if (item.body.kind === "overlay") for (const id of collectEditRecordIds(item.body.edit)) ids.add(id);
    }
  }
  return [...ids];
}

function collectEditRecordIds(edit: ForeignEdit): readonly string[] {
  if (edit.type === "replace") return "record" in edit.target ? [edit.target.record] : [];
  const spans = edit.spans.flatMap(({ from, through }) => [from, through]);
  const record = edit.type === "summarize" ? [edit.record] : [];
  return [...spans, ...record].filter((id) => id !== undefined);
}
