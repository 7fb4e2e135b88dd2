import { checkFields } from "../../model/argument-checks.ts";
import { createArgumentError } from "../../model/errors.ts";

/** The filters that shorten tool results, in the order in which they run. */
export const SHRINK_FILTERS = [
  "terminal",
  "padding",
  "repeats",
  "tests",
  "runs",
  "json",
  "paths",
  "context",
  "numbers",
] as const;

/** Name of a filter that shortens tool results. */
export type ShrinkFilter = (typeof SHRINK_FILTERS)[number];

/** False turns all filters off; an object turns single ones off: `{ tests: false }`. */
export type ShrinkOption = boolean | { readonly [Filter in ShrinkFilter]?: boolean };

/** The filters that an option leaves on; throws ARGUMENT_INVALID for a filter that does not exist. */
export function resolveShrinkFilters(option: ShrinkOption | undefined): ReadonlySet<ShrinkFilter> {
  if (option === undefined || option === true) return new Set(SHRINK_FILTERS);
  if (option === false) return new Set();
  checkFields("shrink", option, {});
  for (const [name, isOn] of Object.entries(option)) {
    if (!SHRINK_FILTERS.includes(name as ShrinkFilter))
      throw createArgumentError("shrink", name, `filters of ${SHRINK_FILTERS.join(", ")}`);
    if (isOn !== undefined && typeof isOn !== "boolean")
      throw createArgumentError(`shrink.${name}`, isOn, "true or false");
  }
  return new Set(SHRINK_FILTERS.filter((name) => option[name] !== false));
}
