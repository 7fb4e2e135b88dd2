import type { UsageBody } from "../../../kernel/faces/log.ts";
import {
  addSavings,
  computeSavings,
  type ModelFactsLookup,
  NO_SAVINGS,
  RECENT_REQUESTS,
  type Savings,
} from "../../../kernel/faces/window.ts";
import type { Entry } from "../../../kernel/index.ts";
import { getRequestKey } from "../../../kernel/usage/request-usage.ts";

interface DaySavings {
  readonly day: string;
  readonly savings: Savings;
}

/** Savings of a session by UTC day. A late report replaces an earlier one of the same request, as in all other sums. */
export interface SavingsSums {
  readonly settled: ReadonlyMap<string, Savings>;
  /** The latest requests, which may be reported again. */
  readonly recent: ReadonlyMap<string, DaySavings>;
}

export const NO_SAVINGS_SUMS: SavingsSums = { settled: new Map(), recent: new Map() };

/** Sums that reports can be added to. */
interface OpenSavingsSums extends SavingsSums {
  readonly settled: Map<string, Savings>;
  readonly recent: Map<string, DaySavings>;
}

export function copySavings({ settled, recent }: SavingsSums): OpenSavingsSums {
  return { settled: new Map(settled), recent: new Map(recent) };
}

/** Adds a usage report and returns its savings; reports come in the order of the log. */
export function addSavingsReport(
  { settled, recent }: OpenSavingsSums,
  entry: Entry<UsageBody>,
  factsOf: ModelFactsLookup,
): Savings {
  const key = getRequestKey(entry);
  recent.delete(key);
  const day = new Date(entry.at).toISOString().slice(0, 10);
  const savings = computeSavings(entry, factsOf);
  recent.set(key, { day, savings });
  const [oldest] = recent;
  if (!oldest || recent.size <= RECENT_REQUESTS) return savings;
  recent.delete(oldest[0]);
  addDay(settled, oldest[1]);
  return savings;
}

/** Makes all requests settled, when no late report is expected any more. */
export function settleSavings({ settled, recent }: SavingsSums): SavingsSums {
  const all = new Map(settled);
  for (const one of recent.values()) addDay(all, one);
  return { settled: all, recent: new Map() };
}

/** The savings of each day of a range. */
export function listSavings(
  sums: SavingsSums,
  from: string,
  to: string,
): readonly (readonly [string, Savings])[] {
  return [...settleSavings(sums).settled].filter(([day]) => day >= from && day <= to);
}

function addDay(days: Map<string, Savings>, { day, savings }: DaySavings): void {
  days.set(day, addSavings(days.get(day) ?? NO_SAVINGS, savings));
}
