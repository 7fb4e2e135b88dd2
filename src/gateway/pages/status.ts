/** A conversation that passes through the gateway. */
export interface ThreadStatus {
  /** Id of its session. */
  readonly session: string;
  /** The agent, as far as it is recognised: "claude-code". */
  readonly client?: string;
  /** What it is for: main, title, compaction… */
  readonly kind: string;
  readonly model?: string;
  /** Tokens of the last request, as it was sent. */
  readonly tokens: number;
  /** The client's window. */
  readonly window: number;
  readonly requests: number;
  /** Tokens that were not sent, over all requests. */
  readonly savedTokens: number;
  /** US dollars that were not spent; negative where edits have not paid yet. */
  readonly savedCost: number;
  readonly lastAt: number;
  /** Requests that have not ended. */
  readonly inFlight: number;
}

/** How an upstream does. */
export interface UpstreamStatus {
  readonly name: string;
  readonly requests: number;
  readonly failures: number;
  /** Status of its last answer. */
  readonly lastStatus?: number;
}

/** What the gateway has done since it started. */
export interface GatewayTotals {
  readonly requests: number;
  readonly failures: number;
  /** Edits of windows. */
  readonly edits: number;
  /** Overflows and refused blocks that clients never saw. */
  readonly healed: number;
  readonly savedTokens: number;
  readonly savedCost: number;
}

/** How the gateway does. */
export interface GatewayStatus {
  readonly url: string;
  readonly startedAt: number;
  /** False while it drains. */
  readonly isOpen: boolean;
  /** Requests that have not ended. */
  readonly inFlight: number;
  readonly totals: GatewayTotals;
  readonly upstreams: readonly UpstreamStatus[];
  /** The one that was used last first; bounded by whoever tells it. */
  readonly threads: readonly ThreadStatus[];
}
