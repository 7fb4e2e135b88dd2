import type { TokensOf } from "./apply-edits.ts";
import type { Slot } from "./slot.ts";

/** What a window may hold. */
export interface Budget {
  /** Tokens for everything that is sent: the model's window less what is reserved for its reply. */
  readonly tokens: number;
  /** The model's window. */
  readonly window: number;
  /** Tokens of system prompt and tools, which come before the messages and never change. */
  readonly system: number;
}

/** What holds when a request is about to be sent. */
export interface Moment {
  /** False when the provider's cache of the last request has run out: then changing the prefix costs nothing more. */
  readonly isHot: boolean;
}

/** One session under one policy. */
export interface PolicyRun {
  /** Takes in the next message of the line. */
  observe(slot: Slot): void;
  /** The window of the next request, within the budget. */
  fit(moment: Moment): readonly Slot[];
}

/** A way to keep a window within its budget. */
export interface Policy {
  readonly name: string;
  start(budget: Budget, tokensOf: TokensOf): PolicyRun;
}
