import { SHRINK_FILTERS, type ShrinkFilter, type ShrinkOption } from "../../window-entry.ts";
import { UsageError } from "../usage-error.ts";

/** The filters that --shrink-off leaves on; throws a usage error for a name that does not exist. */
export function parseShrinkOption(given: readonly string[]): ShrinkOption {
  const names = given.flatMap((words) => words.split(",").map((word) => word.trim()));
  for (const name of names)
    if (name !== "all" && !SHRINK_FILTERS.includes(name as ShrinkFilter))
      throw new UsageError(`--shrink-off ${name}: expected all, or filters of ${SHRINK_FILTERS.join(", ")}`);
  if (names.includes("all")) return false;
  return Object.fromEntries(names.map((name) => [name, false]));
}
