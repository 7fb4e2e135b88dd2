import { invalidArgument } from "../../model/errors.ts";

const LEAST = 5;

/** A percentage from 5 to 100 as a share; else throws ARGUMENT_INVALID. */
export function percentOf(option: string, value: number): number {
  if (!(value >= LEAST && value <= 100)) throw invalidArgument(option, value, "a percentage from 5 to 100");
  return value / 100;
}
