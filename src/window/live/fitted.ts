import type { Message } from "../../model/message.ts";
import type { CacheState, Receipt } from "../../model/receipt.ts";
import type { Slot } from "../slot.ts";
import type { WindowLimits } from "./budget.ts";
import type { WindowParts } from "./parts.ts";

/** An edit of the window that was made, or would be. */
export interface Planned {
  /** Seq of the overlay; undefined for one that was only looked at. */
  readonly overlay?: number;
  readonly reason: string;
  readonly receipt: Receipt;
}

/** What the next call is sent. */
export interface Fitted {
  readonly messages: readonly Message[];
  /** What the agent was told to remember, to go with the system prompt; if asked for, and if there is any. */
  readonly memories?: string;
  /** The same with where each message stands in the log. */
  readonly slots: readonly Slot[];
  /** Tokens of the request, as the provider is expected to count them. */
  readonly tokens: number;
  /** Estimated tokens that may be sent besides, so that the provider surely counts no more than may be sent. */
  readonly roomTokens: number;
  readonly parts: WindowParts;
  readonly limits: WindowLimits;
  readonly cache: CacheState;
  /** Set if the prompt fits and the output that was asked for does not: the most that the next try may ask for. */
  readonly maxOutputTokens?: number;
  /** Set if the window was edited for this call. */
  readonly plan?: Planned;
  /** Set if something that had left the window was brought back for this call. */
  readonly page?: Planned;
}
