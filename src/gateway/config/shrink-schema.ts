import { z } from "zod";
import { SHRINK_FILTERS } from "../../window-entry.ts";

/** Schema of the filters that shorten tool results: all on, all off, or single ones off by name. */
export function shrinkSchema() {
  const names = SHRINK_FILTERS.join(", ");
  return z.union(
    [
      z.boolean(),
      z.strictObject(Object.fromEntries(SHRINK_FILTERS.map((name) => [name, z.boolean().optional()]))),
    ],
    { error: `true, false, or an object with true or false by ${names}` },
  );
}
