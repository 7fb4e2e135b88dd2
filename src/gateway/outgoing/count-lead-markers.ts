import { isObject } from "../../wire/content-blocks.ts";
import { type ByteRange, type CutBody, parseRange } from "../request/cut-body.ts";

const MARK = Buffer.from('"cache_control"');

/** Number of cache markers outside the messages: those of system and tools, and one for the whole request. */
export function countLeadMarkers({ bytes, fields }: CutBody): number {
  // A marker for the whole request counts as one, wherever the provider applies it.
  const whole = fields.get("cache_control");
  const isMarked = whole !== undefined && isObject(parseRange(bytes, whole));
  return (
    countListMarkers(bytes, fields.get("system")) +
    countListMarkers(bytes, fields.get("tools")) +
    (isMarked ? 1 : 0)
  );
}

/** Counts only markers on the list's own objects; a tool's schema may have a property of the same name. */
function countListMarkers(bytes: Buffer, range: ByteRange | undefined): number {
  if (!range || !bytes.subarray(range.from, range.to).includes(MARK)) return 0;
  const list = parseRange(bytes, range);
  if (!Array.isArray(list)) return 0;
  return list.filter((one) => isObject(one) && isObject(one.cache_control)).length;
}
