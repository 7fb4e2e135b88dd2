import type { Message } from "../../model/message.ts";
import type { Place } from "../../model/place.ts";
import type { CacheState, Receipt } from "../../model/receipt.ts";
import type { ModelFacts } from "../models/model-data.ts";
import type { Slot } from "../slot.ts";
import type { WindowLimits } from "./window-limits.ts";

/** An edit of the window, stored or only planned. */
export interface PlannedEdit {
  /** Seq of the overlay; undefined for a dry run. */
  readonly overlay?: number;
  readonly reason: string;
  readonly receipt: Receipt;
}

/** Content that a person has brought back by taking an edit back; it leaves only if the limit forces it, and last. */
export interface HeldContent {
  /** The overlay that brought it back; reverting that overlay releases the content. */
  readonly revert: Place;
  /** Its messages that the window shows. */
  readonly messages: number;
  readonly tokens: number;
  /** Messages that the limit has forced out of the window, as far as they were read. */
  readonly messagesLeft: number;
}

/** The state of a window in which a new conversation is the better place to go on. */
export interface WindowAdvice {
  /** Tokens that no later edit can remove: system prompt, tools, memories, pins, summaries, and the first request. */
  readonly settledTokens: number;
  /** Their share of the model's window. */
  readonly share: number;
}

/** The window for the next call. */
export interface FittedWindow {
  readonly messages: readonly Message[];
  /** The agent's memories, to be sent with the system prompt; present if requested and if there are any. */
  readonly memories?: string;
  /** The same messages with their positions in the log. */
  readonly slots: readonly Slot[];
  /** True if messages were removed, added or changed, other than by shortening results when they first appeared. */
  readonly isRewritten: boolean;
  /** Tokens of the request, as the provider is expected to count them. */
  readonly tokens: number;
  /**
   * Tokens of the same request without edits and memories, by the same count. Includes at most 300,000 tokens of
   * content that had left the window before it was loaded.
   */
  readonly uneditedTokens: number;
  /** Estimated tokens that may be added without the provider's count exceeding the limit. */
  readonly roomTokens: number;
  readonly parts: WindowBreakdown;
  /** One for each revert whose content is held; absent if there is none. */
  readonly held?: readonly HeldContent[];
  /** Set if little but a new conversation would make room: at least 70 % of the window can never leave it. */
  readonly advice?: WindowAdvice;
  readonly limits: WindowLimits;
  /** Window and prices of the model. */
  readonly facts: ModelFacts;
  readonly cache: CacheState;
  /** Maximum output that the next try may ask for; set if the prompt fits but the requested output does not. */
  readonly maxOutputTokens?: number;
  /** The provider's words about an earlier edit of ours that it refused for torn pairs or blocks, which is a defect. */
  readonly defect?: string;
  /** Set if the window was edited for this call. */
  readonly plan?: PlannedEdit;
  /** Set if single messages were replaced for this call: results shortened, or lines that a pointer stood for. */
  readonly touchUp?: PlannedEdit;
  /** Set if content that had left the window was brought back for this call. */
  readonly page?: PlannedEdit;
}

/** Tokens of a request by purpose; together with `free` they fill the model's window. */
export interface WindowBreakdown {
  readonly system: number;
  readonly tools: number;
  /** The agent's memories, which are sent with the system prompt. */
  readonly memories: number;
  readonly pins: number;
  readonly summaries: number;
  readonly recalled: number;
  readonly history: number;
  readonly reserved: number;
  readonly free: number;
}
