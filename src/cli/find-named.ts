import { nearestWords } from "./terminal/nearest-words.ts";
import { UsageError } from "./usage-error.ts";

/** Finds the item that an option names; throws UsageError with the nearest name, else with all names. */
export function findNamed<T extends { readonly name: string }>(
  option: string,
  name: string,
  things: readonly T[],
): T {
  const found = things.find((thing) => thing.name === name);
  if (found) return found;
  const names = things.map((thing) => thing.name);
  const [nearest] = nearestWords(name, names);
  const hint = nearest === undefined ? `expected one of ${names.join(", ")}` : `did you mean ${nearest}?`;
  throw new UsageError(`--${option} is ${JSON.stringify(name)}; ${hint}`);
}
