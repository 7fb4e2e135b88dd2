/** The requests of one person as their clients and the provider saw them. */
export interface PersonSpending {
  /** Requests and tokens that the provider has served. */
  served: { requests: number; tokens: number };
  /** Tokens of the replies that clients have received to their end. */
  acknowledgedTokens: number;
  /** The largest request, as the provider counted it. */
  maxTokens: number;
  /** The largest estimate that a gateway can have reserved. */
  maxEstimate: number;
  /** Requests that got no whole reply: their gateway died, or the database was away. */
  failures: number;
  refusals: number;
}

/** Tokens of output that clients allow; a gateway reserves them. */
export const MAX_OUTPUT_TOKENS = 64;

/** Counts requests by person, independently of the gateways. */
export class SpendingRecord {
  readonly people: ReadonlyMap<string, PersonSpending>;
  /** Tokens of each reply by its number. */
  readonly #replies: number[] = [];

  constructor(names: readonly string[]) {
    this.people = new Map(names.map((name) => [name, createPersonSpending()]));
  }

  get(name: string): PersonSpending {
    const found = this.people.get(name);
    if (!found) throw new Error(`nobody is called ${name}`);
    return found;
  }

  /** The provider serves a request; returns the number of its reply. */
  recordServed(name: string, tokens: number): number {
    const spending = this.get(name);
    spending.served.requests++;
    spending.served.tokens += tokens;
    spending.maxTokens = Math.max(spending.maxTokens, tokens);
    return this.#replies.push(tokens) - 1;
  }

  /** A client has received the end of a reply. */
  recordAcknowledged(name: string, reply: number): void {
    this.get(name).acknowledgedTokens += this.#replies[reply] as number;
  }

  /** A client sends a request of this size. */
  recordSent(name: string, bodyBytes: number): void {
    const spending = this.get(name);
    const estimate = Math.ceil(bodyBytes / 4) + MAX_OUTPUT_TOKENS;
    spending.maxEstimate = Math.max(spending.maxEstimate, estimate);
  }
}

function createPersonSpending(): PersonSpending {
  return {
    served: { requests: 0, tokens: 0 },
    acknowledgedTokens: 0,
    maxTokens: 0,
    maxEstimate: 0,
    failures: 0,
    refusals: 0,
  };
}
