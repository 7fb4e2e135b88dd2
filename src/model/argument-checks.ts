import { createArgumentError } from "./errors.ts";

const KINDS = {
  text: { is: (value: unknown) => typeof value === "string", words: "a text" },
  name: {
    is: (value: unknown) => typeof value === "string" && value !== "",
    words: "a text that is not empty",
  },
  number: { is: (value: unknown) => Number.isFinite(value), words: "a number" },
  boolean: { is: (value: unknown) => typeof value === "boolean", words: "true or false" },
  array: { is: (value: unknown) => Array.isArray(value), words: "an array" },
  object: {
    is: (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value),
    words: "an object",
  },
  json: { is: isJson, words: "an object that JSON can hold (no BigInt, no cycles)" },
  function: { is: (value: unknown) => typeof value === "function", words: "a function" },
  signal: { is: (value: unknown) => value instanceof AbortSignal, words: "an AbortSignal" },
} as const;

function isJson(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** The expected kind of a field; "?" makes it optional. */
type FieldKind = keyof typeof KINDS | `${keyof typeof KINDS}?`;

const FIELD_KINDS = Object.fromEntries(
  Object.entries(KINDS).flatMap(([name, kind]) => [
    [name, kind],
    [`${name}?`, kind],
  ]),
) as unknown as Readonly<Record<FieldKind, (typeof KINDS)[keyof typeof KINDS]>>;

/** Returns `value` if it has the kind, else throws ARGUMENT_INVALID naming the option. */
export function checkKind<T>(option: string, value: T, kind: keyof typeof KINDS): T {
  if (KINDS[kind].is(value)) return value;
  throw createArgumentError(option, value, KINDS[kind].words);
}

/** Returns `value` if it is an object whose fields have their kinds, else throws ARGUMENT_INVALID naming the field. */
export function checkFields<T>(
  option: string,
  value: T,
  fields: Readonly<Record<string, FieldKind>> = {},
): T {
  checkKind(option, value, "object");
  // Without `Object.entries` and texts for each field: arguments are checked on every path.
  for (const name in fields) {
    const kind = fields[name] as FieldKind;
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field === undefined && kind.endsWith("?")) continue;
    const { is, words } = FIELD_KINDS[kind];
    if (!is(field))
      throw createArgumentError(option === "options" ? name : `${option}.${name}`, field, words);
  }
  return value;
}

/** Returns `values` if it is an array of non-empty strings, else throws ARGUMENT_INVALID. */
export function checkTexts(option: string, values: readonly string[]): readonly string[] {
  checkKind(option, values, "array");
  for (const [index, value] of values.entries()) checkKind(`${option}[${index}]`, value, "name");
  return values;
}

/** Returns `values` if it is an array of objects with these fields, else throws ARGUMENT_INVALID. */
export function checkList<T>(
  option: string,
  values: readonly T[],
  fields: Readonly<Record<string, FieldKind>> = {},
): readonly T[] {
  checkKind(option, values, "array");
  let index = 0;
  for (const value of values) checkFields(`${option}[${index++}]`, value, fields);
  return values;
}
