import type { Json } from "../../index.ts";
import { dropUndefined } from "../../wire/fields.ts";
import type { RecordBody, RecordItem } from "../port/item.ts";

interface RecordOptions {
  readonly at?: number | undefined;
  readonly version?: string | undefined;
}

export function buildRecordItem(id: string, body: RecordBody, { at, version }: RecordOptions): RecordItem {
  return { type: "record", id, ...dropUndefined({ at, version }), body };
}

/** Builds a raw record. */
export function buildRawItem(id: string, value: Json, options: RecordOptions): RecordItem {
  return buildRecordItem(id, { kind: "raw", value }, options);
}
