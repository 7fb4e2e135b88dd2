import { type CutBody, parsed, type Range } from "../body/cut.ts";
import { isObject } from "./blocks.ts";

const MARK = Buffer.from('"cache_control"');

/** How many cache markers a request has besides those of its messages: of system and tools, and one for all of it. */
export function leadMarkers({ bytes, fields }: CutBody): number {
  // A marker for the whole request counts as one, wherever the provider puts it.
  const whole = fields.get("cache_control");
  const isMarked = whole !== undefined && isObject(parsed(bytes, whole));
  return markersOf(bytes, fields.get("system")) + markersOf(bytes, fields.get("tools")) + (isMarked ? 1 : 0);
}

/** Tools may describe an input of that name, which is no marker: only the objects of the list carry one. */
function markersOf(bytes: Buffer, range: Range | undefined): number {
  if (!range || !bytes.subarray(range.from, range.to).includes(MARK)) return 0;
  const list = parsed(bytes, range);
  if (!Array.isArray(list)) return 0;
  return list.filter((one) => isObject(one) && isObject(one.cache_control)).length;
}
