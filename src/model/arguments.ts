import { invalidArgument } from "./errors.ts";

/** Returns `value` if it is an object that is no array, else throws ARGUMENT_INVALID. */
export function checkObject<T extends object>(option: string, value: T): T {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalidArgument(option, value, "an object");
}

/** Returns `value` if it is a string, else throws ARGUMENT_INVALID. */
export function checkText(option: string, value: string): string {
  if (typeof value === "string") return value;
  throw invalidArgument(option, value, "a text");
}

/** Returns `values` if it is an array of non-empty strings, else throws ARGUMENT_INVALID. */
export function checkTexts(option: string, values: readonly string[]): readonly string[] {
  if (!Array.isArray(values)) throw invalidArgument(option, values, "an array of texts");
  for (const [index, value] of values.entries())
    if (typeof value !== "string" || value === "")
      throw invalidArgument(`${option}[${index}]`, value, "a text that is not empty");
  return values;
}

/** Returns `value` if it is a function, else throws ARGUMENT_INVALID. */
export function checkFunction<T>(option: string, value: T): T {
  if (typeof value === "function") return value;
  throw invalidArgument(option, value, "a function");
}

/** Throws ARGUMENT_INVALID unless `signal` is an AbortSignal or undefined. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalidArgument("signal", signal, "an AbortSignal");
}
