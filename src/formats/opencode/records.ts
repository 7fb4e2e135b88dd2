import type { Json } from "../../index.ts";
import { definedFields } from "../content/fields.ts";
import type { RecordBody, RecordItem } from "../item.ts";

/** When a record was made, and which version of it this is. */
export interface RecordOptions {
  readonly at?: number | undefined;
  readonly version?: string | undefined;
}

/** A record. */
export function recordItem(id: string, body: RecordBody, { at, version }: RecordOptions): RecordItem {
  return { type: "record", id, ...definedFields({ at, version }), body };
}

/** A record of what means nothing to us. */
export function rawItem(id: string, value: Json, options: RecordOptions): RecordItem {
  return recordItem(id, { kind: "raw", value }, options);
}
