import { createArgumentError } from "./errors.ts";

/** Each kind of argument, in the words of an error. */
const KINDS = {
  text: "a text",
  name: "a text that is not empty",
  number: "a number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  json: "an object that JSON can hold (no BigInt, no cycles)",
  function: "a function",
  signal: "an AbortSignal",
} as const;

function isKind(value: unknown, kind: keyof typeof KINDS): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "name":
      return typeof value === "string" && value !== "";
    case "number":
      return Number.isFinite(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "json":
      return isKind(value, "object") && canBeJson(value);
    case "signal":
      return value instanceof AbortSignal;
    default:
      return typeof value === kind;
  }
}

function canBeJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** The expected kind of a field; "?" makes it optional. */
type FieldKind = keyof typeof KINDS | `${keyof typeof KINDS}?`;

/** Returns `value` if it has the kind, else throws ARGUMENT_INVALID naming the option. */
export function checkKind<T>(option: string, value: T, kind: keyof typeof KINDS): T {
  if (isKind(value, kind)) return value;
  throw createArgumentError(option, value, KINDS[kind]);
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
    const isOptional = kind.endsWith("?");
    if (field === undefined && isOptional) continue;
    const wanted = (isOptional ? kind.slice(0, -1) : kind) as keyof typeof KINDS;
    if (!isKind(field, wanted))
      throw createArgumentError(option === "options" ? name : `${option}.${name}`, field, KINDS[wanted]);
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

/** The token limit of a text; `budgetTokens` is read until the next version. */
export interface TokenLimit {
  readonly maxTokens?: number;
  /** @deprecated The former name of `maxTokens`. */
  readonly budgetTokens?: number;
}

/** Reads a token limit under its name or its former one. */
export function readMaxTokens({ maxTokens, budgetTokens }: TokenLimit): number | undefined {
  return maxTokens ?? budgetTokens;
}
