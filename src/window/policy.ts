import type { TokensOf } from "./apply-edits.ts";
import type { Slot } from "./slot.ts";

/** A model's limits in tokens as its provider counts them. */
export interface ProviderLimits {
  /** The model's window. */
  readonly window: number;
  /** Most tokens of a request: the window less what is reserved for the reply. */
  readonly tokens: number;
  /** Converts estimated tokens of a whole request into those that the provider would count. */
  counted(estimated: number): number;
}

/** What a window may hold, in estimated tokens. */
export interface Budget {
  /** Tokens for everything that is sent: the model's window less what is reserved for its reply. */
  readonly tokens: number;
  /** The model's window. */
  readonly window: number;
  /** Tokens of system prompt and tools, which come before the messages and never change. */
  readonly system: number;
  /** Most messages, where their number is limited too. */
  readonly messages?: number;
  /** The same limits as the provider counts; `window` and `tokens`, where estimates and counts are the same. */
  readonly provider?: ProviderLimits;
}

/** The limits of a budget as the provider counts. */
export function providerLimits({ window, tokens, provider }: Budget): ProviderLimits {
  return provider ?? { window, tokens, counted: (estimated) => estimated };
}

/** Price of a token read from the provider's cache and of one written to it, in input tokens. */
export interface CachePrices {
  readonly read: number;
  readonly write: number;
}

/** What is known besides when a policy takes over a session; nothing for a new one. */
export interface Course {
  /** Anthropic's when left out. */
  readonly prices?: CachePrices;
  /** Seqs of slots that stay as they are. */
  readonly pins?: ReadonlySet<number>;
  /** The window as it was sent last. */
  readonly window?: readonly Slot[];
  /** Messages that have left it, oldest first; as many as are worth to be looked at. */
  readonly past?: readonly Slot[];
  /** Requests so far. */
  readonly calls?: number;
  /** True if `digest` will be called between requests: what can wait may be put off until then. */
  readonly isPatient?: boolean;
}

/** What holds when a request is about to be sent. */
export interface Moment {
  /** False when the provider's cache of the last request has run out: then changing the prefix costs nothing more. */
  readonly isHot: boolean;
  /** Tokens that are needed beside the window, to bring back what the newest message asks for; none unless given. */
  readonly pageTokens?: number;
}

/** One session under one policy. */
export interface PolicyRun {
  /** Takes in the next message of the line. */
  observe(slot: Slot): void;
  /** The window of the next request, within the budget. */
  fit(moment: Moment): readonly Slot[];
  /** Does what was put off; called while nobody waits. */
  digest?(): void;
  /** Why the last fit changed messages, those that had just arrived included; undefined if it did not. */
  readonly reason?: string | undefined;
}

/** A way to keep a window within its budget. */
export interface Policy {
  readonly name: string;
  /** True if its edits are carried out however little they free, as those that a client has ordered. */
  readonly isStrict?: boolean;
  /** Most messages that the policy itself sends in a window of so many tokens; no limit unless given. */
  maxMessages?(windowTokens: number): number;
  start(budget: Budget, tokensOf: TokensOf, course?: Course): PolicyRun;
}
