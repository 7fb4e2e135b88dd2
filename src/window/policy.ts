import type { TokenEstimator } from "./apply-edits.ts";
import type { ShrinkFilter } from "./shrink/shrink-filters.ts";
import type { Slot } from "./slot.ts";

/** Limits of a model, in tokens as its provider counts them. */
export interface ProviderLimits {
  /** Size of the model's window. */
  readonly window: number;
  /** Maximum tokens of a request: the window minus the tokens reserved for the reply. */
  readonly tokens: number;
  /** Converts the estimated tokens of a whole request to the provider's count. */
  counted(estimated: number): number;
}

/** The limits of a window, in estimated tokens. */
export interface PolicyLimits {
  /** Tokens from which on a request is edited: the model's window minus the tokens reserved for the reply, or less. */
  readonly tokens: number;
  /**
   * Maximum tokens of a request with text of user and assistant only, which cannot be fetched again: `tokens` may be
   * lower, as the size at which other content leaves. Equals `tokens` if absent.
   */
  readonly most?: number;
  /** Size of the model's window. */
  readonly window: number;
  /** Tokens of system prompt and tools, which precede the messages and never change. */
  readonly system: number;
  /** Maximum number of messages; unlimited if absent. */
  readonly messages?: number;
  /** The same limits in the provider's count; defaults to `window` and `tokens` where estimates equal counts. */
  readonly provider?: ProviderLimits;
}

/** The limits of a window, in the provider's count. */
export function getProviderLimits({ window, tokens, provider }: PolicyLimits): ProviderLimits {
  return provider ?? { window, tokens, counted: (estimated) => estimated };
}

/**
 * Price of a token read from the provider's cache, and of a token written to it, relative to an uncached input token.
 */
export interface CachePrices {
  readonly read: number;
  readonly write: number;
}

/** State of a session that a policy takes over; empty for a new session. */
export interface Course {
  /** True if the model loses its thinking behind a change; see `ThinkingRule`. */
  readonly bindsThinking?: boolean;
  /** Anthropic's prices if absent. */
  readonly prices?: CachePrices;
  /** Seqs of slots that must not change. */
  readonly pins?: ReadonlySet<number>;
  /** The window as last sent. */
  readonly window?: readonly Slot[];
  /** Messages that have left the window, oldest first; limited to those worth inspecting. */
  readonly past?: readonly Slot[];
  /** True if messages before those of `past` have left the window as well. */
  readonly isPastCut?: boolean;
  /** Number of requests so far. */
  readonly calls?: number;
  /** Filters that shorten tool results when they first appear; all if absent. */
  readonly shrinkFilters?: ReadonlySet<ShrinkFilter>;
  /** Results up to this place are not shortened any more, because a person has taken edits back since; default 0. */
  readonly settledSeq?: number;
  /** True for a place that a person has brought back: it leaves the window last. */
  readonly isHeld?: (seq: number) => boolean;
  /** Place of the last undo that still holds: older messages leave only if the limit forces it. Default 0. */
  readonly heldSeq?: number;
  /** Place of the last edit that removed content; messages after it are new since. Default 0. */
  readonly editedSeq?: number;
  /** True if `digest` will be called between requests, so the policy may defer work until then. */
  readonly isPatient?: boolean;
}

/** Conditions at the time a request is about to be sent. */
export interface Moment {
  /** False when the provider's cache of the last request has expired: changing the prefix then costs nothing extra. */
  readonly isHot: boolean;
  /** True if the provider counts cached tokens and has counted none, so that it has no cache; default false. */
  readonly isUncached?: boolean;
  /** Replies that must lie between two edits that no limit forces; default 0. */
  readonly minCalls?: number;
  /**
   * Size that a refusal of the provider gives the request, which is also the most that its limits allow. The window is
   * reduced to it and no further.
   */
  readonly forcedTokens?: number;
}

/** One session under one policy. */
export interface PolicyRun {
  /** Adds the next message of the line. */
  observe(slot: Slot): void;
  /** Returns the window of the next request, within the limits. */
  fit(moment: Moment): readonly Slot[];
  /** Performs deferred work; called while no request is waiting. */
  digest?(): void;
  /** Why the last fit changed messages, including new ones; undefined if it changed none. */
  readonly reason?: string | undefined;
  /**
   * True if the last fit only replaced single messages: results shortened before their first request, or lines that
   * came back because their copy has left. Such a fit is applied however few tokens it frees.
   */
  readonly isTouchUp?: boolean;
}

/** A strategy for keeping a window within its limits. */
export interface Policy {
  readonly name: string;
  /** True if its edits are applied however few tokens they free, as when a client requested them. */
  readonly isStrict?: boolean;
  /** True if its own edits take old pages out. */
  readonly dropsPages?: boolean;
  /**
   * Share of tool output that stays in the window, as an extract, when the policy edits it without a model; absent if
   * the policy keeps no extract. A summary by a model is compared with it.
   */
  readonly extractShare?: number;
  /** Maximum number of messages that the policy sends in a window of `windowTokens`; unlimited if absent. */
  maxMessages?(windowTokens: number): number;
  /** Turns since the last summary after which the next one is due, where summaries are on; unlimited if absent. */
  maxTurns?(windowTokens: number): number;
  start(limits: PolicyLimits, tokensOf: TokenEstimator, course?: Course): PolicyRun;
}
