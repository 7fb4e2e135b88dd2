import { checkFields } from "../../model/argument-checks.ts";
import { checkWholeNumber, createArgumentError } from "../../model/errors.ts";

/**
 * Confidence in a memory, highest first: said or accepted by the user, noted by an agent, quoted from other text,
 * rejected by the user.
 */
export type MemoryTrust = "user" | "agent" | "quoted" | "rejected";

/** The time during which a memory holds, in milliseconds since 1970. */
export interface Validity {
  /** Default: always. */
  readonly from?: number;
  /** The first moment at which it no longer holds; default: never. */
  readonly until?: number;
}

/** Selects memories by trust and time. */
export interface MemoryFilter {
  /** Lowest trust; default "quoted", that is, everything except rejected memories. */
  readonly trust?: MemoryTrust;
  /** Only memories that hold at this time, default now; "ever" for all. */
  readonly validAt?: number | "ever";
}

const RANKS: Readonly<Record<MemoryTrust, number>> = { user: 3, agent: 2, quoted: 1, rejected: 0 };

/** Returns the filter if its fields are valid, else throws ARGUMENT_INVALID. */
export function checkMemoryFilter(option: string, filter: MemoryFilter): MemoryFilter {
  const { trust, validAt } = checkFields(option, filter);
  if (trust !== undefined && !Object.hasOwn(RANKS, trust))
    throw createArgumentError("trust", trust, Object.keys(RANKS).join(", "));
  if (validAt !== undefined && validAt !== "ever") checkWholeNumber("validAt", validAt, 0);
  return filter;
}

/** True if a memory passes a filter. */
export function isMemoryAdmitted(
  memory: Validity & { readonly trust: MemoryTrust },
  { trust = "quoted", validAt }: MemoryFilter,
  now: number,
): boolean {
  if (RANKS[memory.trust] < RANKS[trust]) return false;
  if (validAt === "ever") return true;
  const time = validAt ?? now;
  return (memory.from ?? 0) <= time && time < (memory.until ?? Number.POSITIVE_INFINITY);
}

/** Returns only the dates; throws ARGUMENT_INVALID if they are not times or `until` is not after `from`. */
export function checkValidity({ from, until }: Validity): Validity {
  if (from !== undefined) checkWholeNumber("from", from, 0);
  if (until !== undefined) checkWholeNumber("until", until, 0);
  if (from !== undefined && until !== undefined && until <= from)
    throw createArgumentError("until", until, `a time after from (${from})`);
  return { ...(from !== undefined && { from }), ...(until !== undefined && { until }) };
}
