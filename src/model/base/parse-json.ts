/** Maximum nesting of a record. No real record needs more, and much deeper ones cannot be serialized. */
const MAX_LEVELS = 1_000;

/** Parses a JSON text; throws if it is invalid or nested too deep to be serialized again. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Each level takes two brackets.
  if (text.length >= 2 * MAX_LEVELS && isDeeper(value, MAX_LEVELS))
    throw new RangeError(`nested deeper than ${MAX_LEVELS} levels; not read`);
  return value;
}

/** Describes why a text could not be parsed. */
export function describeJsonFault(error: unknown): string {
  const { message } = error as Error;
  return error instanceof RangeError ? message : `not JSON: ${message.slice(0, 120)}`;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    // Most values are primitives: skip the call for them.
    for (const inner of value) if (typeof inner === "object" && isDeeper(inner, levels - 1)) return true;
    return false;
  }
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name];
    if (typeof inner === "object" && isDeeper(inner, levels - 1)) return true;
  }
  return false;
}
