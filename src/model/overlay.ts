import type { SeqRange } from "./line.ts";
import type { Message, MessageInput } from "./message.ts";
import type { Part, PartInput } from "./part.ts";

/** What an overlay replaces: one part or all parts of an entry of the session, or the result of a tool call. */
export type OverlayTarget = { readonly seq: number; readonly part?: number } | { readonly callId: string };

/** Other parts in place of those of the target. */
export interface Replacement<P = Part> {
  readonly type: "replace";
  readonly target: OverlayTarget;
  readonly parts: readonly P[];
}

/** Entries that leave the window. */
export interface Hiding {
  readonly type: "hide";
  readonly ranges: readonly SeqRange[];
}

/** Entries that leave the window for a summary: messages of its own, or an entry of the log that already holds it. */
export interface Summarizing<M = Message> {
  readonly type: "summarize";
  readonly ranges: readonly SeqRange[];
  readonly messages?: readonly M[];
  readonly entry?: number;
}

/** Takes an earlier overlay back. */
export interface Reverting {
  readonly type: "revert";
  readonly overlay: number;
}

/** One way in which the window differs from the log. */
export type Edit<M = Message, P = Part> = Replacement<P> | Hiding | Summarizing<M> | Reverting;

/** An edit on its way in: its data is not stored yet. */
export type EditInput = Edit<MessageInput, PartInput>;

/** Who made an edit, and why. */
export interface EditReason {
  /** "longhaul", or the name of the foreign tool that made it. */
  readonly author: string;
  readonly reason: string;
  /** When it was made, where that differs from the time of the entry. */
  readonly madeAt?: number;
  /** Tokens of the window before and after, as far as known. */
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}
