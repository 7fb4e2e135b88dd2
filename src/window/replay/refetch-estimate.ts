import type { Protocol } from "./protocol.ts";
import { type ClueKind, getClueKind, type SeenClue } from "./seen-clues.ts";

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

/** Estimated work of an agent that fetches lost content again. */
export interface Refetch {
  /** Clues from tool output that the next reply needed and the window did not contain. */
  readonly facts: number;
  /** Expected number of extra calls, and the tokens that they fetch. */
  readonly calls: number;
  readonly tokens: number;
  /** In input tokens: the extra requests, the output of the calls, and carrying the fetched content. */
  readonly cost: number;
}

interface FetchedOutput {
  readonly chance: number;
  readonly tokens: number;
  /** Number of the request from which the output may be missing again. */
  readonly until: number;
}

/**
 * Estimates the cost of forgetting from the recorded behavior of agents. A lost tool output is fetched with the chance
 * of its most wanted clue, and then counts as present for as long as that behavior was observed.
 */
export class RefetchEstimate {
  readonly #protocol: Protocol;
  readonly #fetched = new Map<string, FetchedOutput>();
  #sums: Refetch = { facts: 0, calls: 0, tokens: 0, cost: 0 };
  #requests = 0;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  get sums(): Refetch {
    return this.#sums;
  }

  /** Charges one request of `windowTokens` whose reply needed the lost clues. */
  charge(lost: readonly (readonly [reference: string, clue: SeenClue])[], windowTokens: number): void {
    this.#requests++;
    const { callsPerOutput, tokensPerToken, callTokens, requests } = REFETCH_TABLE;
    const { readPrice, writePrice, outputPrice } = this.#protocol;
    let { facts, calls, tokens, cost } = this.#sums;
    for (const [id, held] of this.#fetched) {
      if (held.until <= this.#requests) this.#fetched.delete(id);
      else cost += held.tokens * readPrice;
    }
    const chances = new Map<string, { readonly chance: number; readonly tokens: number }>();
    for (const [reference, { request, isNamed, output }] of lost) {
      if (!output) continue;
      facts++;
      const age = this.#requests - 1 - request;
      const chance = findRefetchChance({ kind: getClueKind(reference), age, isNamed });
      if (chance > (chances.get(output.id)?.chance ?? 0))
        chances.set(output.id, { chance, tokens: output.tokens });
    }
    for (const [id, wanted] of chances) {
      const known = this.#fetched.get(id);
      const more = wanted.chance - (known?.chance ?? 0);
      if (more <= 0) continue;
      const newCalls = more * callsPerOutput;
      const newTokens = more * wanted.tokens * tokensPerToken;
      calls += newCalls;
      tokens += newTokens;
      cost += newCalls * (windowTokens * readPrice + callTokens * outputPrice) + newTokens * writePrice;
      this.#fetched.set(id, {
        chance: wanted.chance,
        tokens: (known?.tokens ?? 0) + newTokens,
        until: known?.until ?? this.#requests + requests,
      });
    }
    this.#sums = { facts, calls, tokens, cost };
  }
}

/** Measured behavior of agents that lost tool output from their window. */
export interface RefetchTable {
  /** Upper limits of the age classes but the last, in requests since a clue last appeared. */
  readonly ages: readonly number[];
  /**
   * Chance that an agent which needs a lost clue fetches it again, by kind and age class. Clues that the assistant had
   * named itself have their own row.
   */
  readonly chances: Readonly<
    Record<ClueKind, { readonly named: readonly number[]; readonly unnamed: readonly number[] }>
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

/** A clue that is needed and no longer in the window. */
interface LostClue {
  readonly kind: ClueKind;
  /** Requests since the clue last appeared. */
  readonly age: number;
  readonly isNamed: boolean;
}

/** The chance that an agent fetches a lost clue again before it continues. */
export function findRefetchChance(
  { kind, age, isNamed }: LostClue,
  { ages, chances }: RefetchTable = REFETCH_TABLE,
): number {
  const row = chances[kind][isNamed ? "named" : "unnamed"];
  const place = ages.findIndex((limit) => age < limit);
  return row[place < 0 ? ages.length : place] ?? 0;
}
