import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toObject, toText } from "../fields.ts";
import type { InputChange, WireObject } from "../wire.ts";

/** Maximum number of changes that are read from a reply. */
const MAX_INPUT_CHANGES = 1_000;

/**
 * The changes that a reply, or an event of one, reports; undefined if it reports none. After a fallback to another model,
 * the last event lists them again.
 */
export function readInputChanges({
  input_transformations: list,
}: WireObject): readonly InputChange[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.slice(0, MAX_INPUT_CHANGES).flatMap((one): readonly InputChange[] => {
    const { type, path, reason } = toObject(one) ?? {};
    if (typeof type !== "string") return [];
    return [{ type, ...dropUndefined({ path: toText(path), reason: toText(reason) }) }];
  });
}
