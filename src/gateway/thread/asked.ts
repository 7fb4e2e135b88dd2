import type { Policy } from "../../index.ts";
import type { Api } from "../api/api.ts";
import type { WireMessages } from "../body/wire-message.ts";
import type { ContextEdit } from "../edits/context-edit.ts";

/** What a request holds besides its messages, as far as its window depends on it. */
export interface Frame {
  /** The model as the upstream knows it. */
  readonly model: string;
  /** Tokens that the client lets the model say. */
  readonly maxTokens: number | undefined;
  /** Bytes of the system prompt and of the tools; their words are asked for only when they have changed much. */
  readonly leadBytes: number;
  readonly toolsBytes: number;
  readonly lead: () => string;
  readonly tools: () => string;
}

/** Limits of the window of a request. */
export interface Room {
  /** Tokens that the upstream takes at most. */
  readonly window: number;
  /** Tokens from which on the client would begin to compact by itself. */
  readonly threshold: number;
}

/** A request as a thread takes it. */
export interface Asked {
  readonly api: Api;
  readonly said: WireMessages;
  readonly frame: Frame;
  readonly room: Room;
  /** "none" leaves everything as it is. */
  readonly policy: string | Policy;
  /** Policies of the same key do the same. */
  readonly policyKey: string;
  /** What the client asks for with Anthropic's `context_management`, where the gateway carries it out. */
  readonly edits?: readonly ContextEdit[];
  /** True if the request holds only what is new: the provider has the rest. */
  readonly isContinued: boolean;
  /** True to plan and change nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}
