import { createArgumentError } from "../../model/errors.ts";

const MIN_PERCENT = 5;

/** Converts a percentage from 5 to 100 to a share; throws ARGUMENT_INVALID for anything else. */
export function toShare(option: string, value: number): number {
  if (!(value >= MIN_PERCENT && value <= 100))
    throw createArgumentError(option, value, "a percentage from 5 to 100");
  return value / 100;
}
