/** A figure for the window as it would have been, and as it is. */
export interface Compared {
  readonly without: number;
  readonly with: number;
}

/** What the provider's cache of the last request is worth: still there, gone, or nobody can tell. */
export type CacheState = "hot" | "cold" | "unknown";

/** What an edit of the window cost, saved and took away. */
export interface Receipt {
  readonly model: string;
  readonly policy: string;
  readonly cache: CacheState;
  /** True if the window would not have fitted without the edit. */
  readonly isForced: boolean;
  /** Tokens of the whole request. */
  readonly tokens: Compared;
  /** Share of the request that is read from the provider's cache. */
  readonly cachedShare: Compared;
  /** US dollars for the prompt of this call, */
  readonly thisCall: Compared;
  /** and of each of the next ones, while the cache is hot. */
  readonly nextCalls: Compared;
  /** Set where prices are a guess, good only for comparing. */
  readonly arePricesAssumed?: true;
  /** Further calls after which the edit has paid for itself; 0 if at once, null if never. */
  readonly breakEvenCalls: number | null;
  /** Further calls that the session's course lets expect. */
  readonly expectedCalls: number;
  readonly left: Left;
}

/** What left the window with an edit. */
export interface Left {
  /** Messages that left the window. */
  readonly entries: number;
  /** Identifiers the agent or the user had named that are in it no more, the most used first. */
  readonly identifiers: number;
  readonly named: readonly string[];
}

/** How a summary was made, and what it took away. */
export interface SummaryReceipt {
  /** "model", "fallback", "extractive" or "truncation". */
  readonly by: string;
  /** US dollars for making it; undefined where nobody knows. */
  readonly cost?: number;
  readonly left: Left;
}
