import type { Protocol } from "./protocol.ts";
import { findRefetchChance, REFETCH_TABLE } from "./refetch-table.ts";
import { getFactKind, type SeenFact } from "./seen-facts.ts";

/** Estimated work of an agent that fetches lost content again. */
export interface Refetch {
  /** Facts from tool output that the next reply needed and the window did not contain. */
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
 * of its most wanted fact, and then counts as present for as long as that behavior was observed.
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

  /** Charges one request of `windowTokens` whose reply needed the lost facts. */
  charge(lost: readonly (readonly [reference: string, fact: SeenFact])[], windowTokens: number): void {
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
      const chance = findRefetchChance({ kind: getFactKind(reference), age, isNamed });
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
