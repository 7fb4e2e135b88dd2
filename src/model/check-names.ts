import { findNearestWords } from "./edit-distance.ts";
import { LonghaulError } from "./errors.ts";

/** Returns `value` if it has no fields but these, else throws ARGUMENT_INVALID naming the field and the nearest one. */
export function checkNames<T extends object>(option: string, value: T, names: readonly string[]): T {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  const [nearest = names.join(", ")] = findNearestWords(unknown, names);
  throw new LonghaulError(
    "ARGUMENT_INVALID",
    `${option}.${unknown} is not an option; did you mean ${nearest}?`,
    { details: { option: `${option}.${unknown}`, known: names.join(", ") } },
  );
}
