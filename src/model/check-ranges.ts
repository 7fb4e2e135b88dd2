import { checkList } from "./argument-checks.ts";
import { checkWholeNumber, createArgumentError } from "./errors.ts";
import type { SeqRange } from "./line.ts";
import type { Place } from "./place.ts";

/** Throws ARGUMENT_INVALID unless the ranges are valid and do not overlap. */
export function checkRanges(ranges: readonly SeqRange[]): void {
  checkList("ranges", ranges, { session: "name" });
  for (const [index, { from, to }] of ranges.entries()) {
    checkWholeNumber(`ranges[${index}].from`, from, 1);
    checkWholeNumber(`ranges[${index}].to`, to, from);
  }
  const ordered = ranges.toSorted((one, other) => one.from - other.from);
  const last = new Map<string, number>();
  for (const { session, from, to } of ordered) {
    if (from <= (last.get(session) ?? 0))
      throw createArgumentError("ranges", ranges, `ranges that do not overlap; ${session}#${from} is in two`);
    last.set(session, to);
  }
}

/** Returns the ranges if none extends past the head of its session, else throws ARGUMENT_INVALID. */
export function checkWithin(ranges: readonly SeqRange[], head: Place): readonly SeqRange[] {
  const beyond = ranges.find(({ session, to }) => session === head.session && to > head.seq);
  if (!beyond) return ranges;
  throw createArgumentError("ranges", ranges, `entries that exist; the last is ${head.session}#${head.seq}`);
}
