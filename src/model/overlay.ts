import type { SeqRange } from "./line.ts";
import type { Message, MessageInput, Role } from "./message.ts";
import type { Part, PartInput } from "./part.ts";
import type { Place } from "./place.ts";
import type { Receipt, SummaryReceipt } from "./receipt.ts";

/** What an overlay replaces: one part or all parts of an entry, or the result of a tool call. */
export type OverlayTarget =
  | {
      readonly seq: number;
      readonly part?: number;
      /** Where that is not the session of the overlay: a fork's line begins in another one's log. */
      readonly session?: string;
    }
  | { readonly callId: string };

/** Other parts in place of those of the target. */
export interface Replacement<P = Part> {
  readonly type: "replace";
  readonly target: OverlayTarget;
  readonly parts: readonly P[];
  /** Who says it, where all parts are replaced and that changes too. */
  readonly role?: Role;
}

/** Entries that leave the window. */
export interface Hiding {
  readonly type: "hide";
  readonly ranges: readonly SeqRange[];
}

/** Says whether an edit was made from the log or from an edited window. */
export interface FromLog {
  /** True if it was made from the log: overlays before it do not hold beside it, */
  readonly isWhole?: true;
  /** but for these lasting ones, newest first, unless they are taken back. */
  readonly lasting?: readonly Place[];
}

/**
 * Entries that leave the window for a summary: messages of its own, or an entry of the log that already holds it. A
 * range that ends before it begins hides nothing and says where the messages stand.
 */
export interface Summarizing<M = Message> extends FromLog {
  readonly type: "summarize";
  readonly ranges: readonly SeqRange[];
  readonly messages?: readonly M[];
  readonly entry?: number;
  /** Entries that the messages quote word for word, where they do not stand in place of them. */
  readonly quotes?: readonly Place[];
  /** Summaries of parts that the summary was made of. */
  readonly parts?: readonly { readonly ranges: readonly SeqRange[]; readonly text: string }[];
}

/** Takes an earlier overlay back; a revert, too, can be taken back. */
export interface Reverting {
  readonly type: "revert";
  readonly overlay: number;
  /** Session of the overlay, where that is not this one. */
  readonly session?: string;
  /** Only this edit of a plan. */
  readonly edit?: number;
  /** Everything that came after the overlay as well: the window is edited as it was before it. */
  readonly since?: true;
}

/** An edit that stands for itself. */
export type SingleEdit<M = Message, P = Part> = (Replacement<P> | Hiding | Summarizing<M>) & {
  /** True if it holds whatever policies do: what they edit is the window with this edit. */
  readonly isLasting?: true;
};

/** Edits that were decided together. */
export interface Planning<M = Message, P = Part> extends FromLog {
  readonly type: "plan";
  readonly edits: readonly SingleEdit<M, P>[];
}

/** One way in which the window differs from the log. */
export type Edit<M = Message, P = Part> = SingleEdit<M, P> | Planning<M, P> | Reverting;

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
  /** What it cost and saved, for plans of our own, */
  readonly receipt?: Receipt;
  /** and for summaries of our own. */
  readonly summary?: SummaryReceipt;
}
