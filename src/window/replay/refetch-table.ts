import type { FactKind } from "./seen-facts.ts";

/** Measured behavior of agents that lost tool output from their window. */
export interface RefetchTable {
  /** Upper limits of the age classes but the last, in requests since a fact last appeared. */
  readonly ages: readonly number[];
  /**
   * Chance that an agent which needs a lost fact fetches it again, by kind and age class. Facts that the assistant had
   * named itself have a row of their own.
   */
  readonly chances: Readonly<
    Record<FactKind, { readonly named: readonly number[]; readonly unnamed: readonly number[] }>
  >;
  /** Calls for each lost tool output that is fetched again; below 1, because one call may restore several. */
  readonly callsPerOutput: number;
  /** Tokens fetched for each token of the lost tool output. */
  readonly tokensPerToken: number;
  /** Output tokens of a fetching call. */
  readonly callTokens: number;
  /** Number of requests for which the behavior was observed; fetched output counts as present for as long. */
  readonly requests: number;
}

/** Fitted by `training/refetch/fit.ts` on recorded compactions of real agents. */
export const REFETCH_TABLE: RefetchTable = {
  ages: [10, 25],
  chances: {
    line: { named: [0.87, 0.93, 0.77], unnamed: [0.95, 0.95, 0.89] },
    path: { named: [0.15, 0.27, 0.07], unnamed: [0.27, 0.36, 0.27] },
    name: { named: [0.6, 0.69, 0.63], unnamed: [0.81, 0.79, 0.62] },
  },
  callsPerOutput: 0.7,
  tokensPerToken: 0.62,
  callTokens: 89,
  requests: 25,
};

/** A fact that is needed and no longer in the window. */
interface LostFact {
  readonly kind: FactKind;
  /** Requests since the fact last appeared. */
  readonly age: number;
  readonly isNamed: boolean;
}

/** The chance that an agent fetches a lost fact again before it goes on. */
export function findRefetchChance(
  { kind, age, isNamed }: LostFact,
  { ages, chances }: RefetchTable = REFETCH_TABLE,
): number {
  const row = chances[kind][isNamed ? "named" : "unnamed"];
  const place = ages.findIndex((limit) => age < limit);
  return row[place < 0 ? ages.length : place] ?? 0;
}
