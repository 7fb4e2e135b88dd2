import type { Entry } from "../../../index.ts";
import { toObject } from "../../../wire/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { PI_FORMATS, parseOwnMeta } from "./own-meta.ts";

/** Tells whether a raw record only holds fields that the next entry could not represent. */
export function isPartialRecord(value: JsonObject): boolean {
  switch (value.type) {
    case "message":
      return toObject(value.message)?.role === undefined;
    case "custom_message":
      return value.content === undefined;
    case "branch_summary":
    case "compaction":
      return value.summary === undefined;
    default:
      return value.type === "context_edit";
  }
}

/** Tells whether a partial record belongs to the entry. */
export function isPartOfEntry(value: JsonObject, entry: Entry): boolean {
  const isEdit = value.type === "compaction" || value.type === "context_edit";
  if (entry.kind === "overlay") return isEdit && PI_FORMATS.includes(entry.author);
  return entry.kind === "message" && !isEdit && parseOwnMeta(entry.message.meta)?.id === value.id;
}
