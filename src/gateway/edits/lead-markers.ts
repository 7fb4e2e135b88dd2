import { type CutBody, parsed, type Range } from "../body/cut.ts";
import { isObject } from "./blocks.ts";

const MARK = Buffer.from('"cache_control"');

/** Number of cache markers outside the messages: those of system and tools, and one for the whole request. */
export function leadMarkers({ bytes, fields }: CutBody): number {
  // A marker for the whole request counts as one, wherever the provider applies it.
  const whole = fields.get("cache_control");
  const isMarked = whole !== undefined && isObject(parsed(bytes, whole));
  return markersOf(bytes, fields.get("system")) + markersOf(bytes, fields.get("tools")) + (isMarked ? 1 : 0);
}

/** Counts only markers on the list's own objects; a tool's schema may have a property of the same name. */
function markersOf(bytes: Buffer, range: Range | undefined): number {
  if (!range || !bytes.subarray(range.from, range.to).includes(MARK)) return 0;
  const list = parsed(bytes, range);
  if (!Array.isArray(list)) return 0;
  return list.filter((one) => isObject(one) && isObject(one.cache_control)).length;
}
