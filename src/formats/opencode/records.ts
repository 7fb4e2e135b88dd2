import type { Json } from "../../index.ts";
import { definedFields } from "../content/fields.ts";
import type { RecordBody, RecordItem } from "../item.ts";

export interface RecordOptions {
  readonly at?: number | undefined;
  readonly version?: string | undefined;
}

export function recordItem(id: string, body: RecordBody, { at, version }: RecordOptions): RecordItem {
  return { type: "record", id, ...definedFields({ at, version }), body };
}

/** Builds a raw record. */
export function rawItem(id: string, value: Json, options: RecordOptions): RecordItem {
  return recordItem(id, { kind: "raw", value }, options);
}
