import { invalidArgument } from "../../model/errors.ts";

const LEAST = 5;

/** Converts a percentage from 5 to 100 to a share; throws ARGUMENT_INVALID for anything else. */
export function percentOf(option: string, value: number): number {
  if (!(value >= LEAST && value <= 100)) throw invalidArgument(option, value, "a percentage from 5 to 100");
  return value / 100;
}
