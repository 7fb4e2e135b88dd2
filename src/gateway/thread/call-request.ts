import type { FittedWindow } from "../../index.ts";
import { estimateText, type Policy, type ShrinkOption } from "../../window-entry.ts";
import type { Wire, WireObject } from "../../wire/wire.ts";
import type { Chain } from "../request/chain.ts";
import type { ContextEdit } from "../request/context-edit.ts";
import type { CompactionBlocks } from "../request/find-compactions.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import type { RequestMessages } from "../request/request-messages.ts";

/** The parts of a request other than its messages that its window depends on. */
interface RequestFrame {
  /** The model, as the upstream names it. */
  readonly model: string;
  /** Maximum output tokens that the client asks for. */
  readonly maxTokens: number | undefined;
  /** Sizes of the system prompt and the tools; their text is read only if the sizes have changed much. */
  readonly leadBytes: number;
  readonly toolsBytes: number;
  readonly readLead: () => FrameText;
  readonly readTools: () => FrameText;
  /** Tools of ours that go with it; they are counted among the tools. */
  readonly recallTools?: readonly WireObject[];
  /** Tools of ours that join with the first edit of the conversation. */
  readonly laterTools?: readonly WireObject[];
}

/** A text, or how many tokens it takes where it is too large to be handed around. */
export type FrameText = string | number;

/** The same with a text after or before it. */
export function joinedText(own: FrameText, text: string, side: "after" | "before"): FrameText {
  if (typeof own === "number") return own + estimateText(text);
  return side === "after" ? own + text : `${text}\n${own}`;
}

/** Limits of the window of a request. */
export interface TokenLimits {
  /** Maximum tokens that the upstream accepts. */
  readonly window: number;
  /** Size at which the client would start to compact by itself. */
  readonly threshold: number;
  /** True if the upstream has refused a request because its output did not fit next to its messages. */
  readonly isOutputCounted?: boolean;
}

/** Share by which the provider's count may exceed the estimate. */
const UNCERTAIN_SHARE = 0.02;

/** Maximum output tokens that fit next to the messages; undefined if the upstream does not check it. */
export function limitOutput(
  { window, isOutputCounted }: TokenLimits,
  fitted: Pick<FittedWindow, "tokens"> | undefined,
): number | undefined {
  if (!isOutputCounted || !fitted) return undefined;
  return Math.max(1, Math.floor(window - fitted.tokens * (1 + UNCERTAIN_SHARE)));
}

/** A request to a thread. */
export interface CallRequest {
  readonly api: Wire;
  readonly messages: RequestMessages;
  readonly frame: RequestFrame;
  readonly limits: TokenLimits;
  /** "none" leaves the request unchanged. */
  readonly policy: string | Policy;
  /** False if evicted content must not be paged back in; default true. */
  readonly isPaging?: boolean;
  /** Filters that shorten tool results; all by default. */
  readonly shrink?: ShrinkOption;
  /** Policies with the same key behave the same. */
  readonly policyKey: string;
  /** Edits requested with Anthropic's `context_management`, if the gateway carries them out. */
  readonly edits?: readonly ContextEdit[];
  /** Compaction blocks of the request, if the upstream does not support them. */
  readonly compactions?: CompactionBlocks;
  /** The elements to send when there is no edited window, where the original body would be refused. */
  readonly buildPlainPieces?: () => readonly OutgoingPiece[];
  /** Called once the log contains the messages of the request. */
  readonly onStored?: () => Promise<void>;
  /** Set if the request contains only new messages, because the provider stores the rest. */
  readonly chain?: Chain | undefined;
  /** The person's pinned memories, if there are any, and the name that they are stored under. */
  readonly memories?: { readonly agent: string; readonly text: string | undefined };
  /** True if the conversation belongs to the control arm: the request is sent unchanged. */
  readonly isControl?: true;
  /** True if the request was sent before its messages are stored: its window is not edited. */
  readonly isForwardedFirst?: boolean;
  /** True to plan without changing anything. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}
