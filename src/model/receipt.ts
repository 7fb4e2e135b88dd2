/** A figure for the window without and with the edit. */
export interface Comparison {
  readonly without: number;
  readonly with: number;
}

/** State of the provider's cache for the last request. */
export type CacheState = "hot" | "cold" | "unknown";

/** Cost and savings of a window edit, and the content it removed. */
export interface Receipt {
  readonly model: string;
  readonly policy: string;
  readonly cache: CacheState;
  /** True if the window would not have fit without the edit. */
  readonly isForced: boolean;
  /** Tokens of the whole request. */
  readonly tokens: Comparison;
  /** Share of the request that is read from the provider's cache. */
  readonly cachedShare: Comparison;
  /** US dollars for the prompt of this call. */
  readonly thisCall: Comparison;
  /** US dollars for the prompt of each following call while the cache is hot. */
  readonly nextCalls: Comparison;
  /** Set if prices are estimates, suitable only for comparison. */
  readonly arePricesAssumed?: true;
  /** Further calls until the edit has paid for itself; 0 if at once, null if never. */
  readonly breakEvenCalls: number | null;
  /** Further calls expected from the course of the session. */
  readonly expectedCalls: number;
  readonly left: RemovedContent;
  /** Thinking that the model loses with the edit; absent if it loses none. */
  readonly thinking?: LostThinking;
}

/** Thinking that no later request sends, because something before it has changed. */
interface LostThinking {
  /** Number of replies that lose it. */
  readonly replies: number;
  readonly tokens: number;
  /** US dollars for thinking a part of it again, estimated; `breakEvenCalls` includes them. */
  readonly rethinking: number;
}

/** Content that left the window with an edit. */
interface RemovedContent {
  /** Number of messages that left the window. */
  readonly entries: number;
  /** Identifiers of the agent or user that are no longer in the window, most used first. */
  readonly identifiers: number;
  readonly named: readonly string[];
}

/** Origin and cost of a summary, and the content it removed. */
export interface SummaryReceipt {
  /** "model", "fallback", "extractive" or "truncation". */
  readonly by: string;
  /** US dollars for making it; undefined if unknown. */
  readonly cost?: number;
  readonly left: RemovedContent;
}
