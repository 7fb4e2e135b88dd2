import type { SeqRange } from "./line.ts";
import type { Message, MessageInput, Role } from "./message.ts";
import type { Part, PartInput } from "./part.ts";
import type { Place } from "./place.ts";
import type { Receipt, SummaryReceipt } from "./receipt.ts";

/** Target of an overlay: one part or all parts of an entry, or the result of a tool call. */
export type OverlayTarget =
  | {
      readonly seq: number;
      readonly part?: number;
      /** Set if it differs from the overlay's session: a fork's line begins in another session's log. */
      readonly session?: string;
    }
  | { readonly callId: string };

/** Replaces the parts of the target. */
interface ReplaceEdit<P = Part> {
  readonly type: "replace";
  readonly target: OverlayTarget;
  readonly parts: readonly P[];
  /** A new role, if all parts are replaced and the role changes too. */
  readonly role?: Role;
}

/** Removes entries from the window. */
interface HideEdit {
  readonly type: "hide";
  readonly ranges: readonly SeqRange[];
}

/** Whether an edit was computed from the log or from an edited window. */
export interface EditBasis {
  /** True if computed from the log: earlier overlays then no longer apply, except `lasting` ones. */
  readonly isWhole?: true;
  /** Lasting overlays that still apply unless they are reverted, newest first. */
  readonly lasting?: readonly Place[];
  /** Entries that a person had brought back before this edit; they still leave the window last. */
  readonly held?: readonly HeldEntries[];
}

/** Entries that a person has brought back into the window by taking an edit back. */
export interface HeldEntries {
  /** The overlay with which the person took the edit back; reverting it releases the entries. */
  readonly revert: Place;
  readonly ranges: readonly SeqRange[];
}

/**
 * Replaces entries by a summary: its own messages, or an entry of the log that already contains it. A range that ends
 * before it begins hides nothing and only positions the messages.
 */
interface SummarizeEdit<M = Message> extends EditBasis {
  readonly type: "summarize";
  readonly ranges: readonly SeqRange[];
  readonly messages?: readonly M[];
  readonly entry?: number;
  /** Entries that the messages quote verbatim without replacing them. */
  readonly quotes?: readonly Place[];
  /** Partial summaries from which the summary was made. */
  readonly parts?: readonly { readonly ranges: readonly SeqRange[]; readonly text: string }[];
}

/** Reverts an earlier overlay; a revert can itself be reverted. */
export interface RevertEdit {
  readonly type: "revert";
  readonly overlay: number;
  /** Session of the overlay, if it differs from this one. */
  readonly session?: string;
  /** Reverts only this edit of a plan. */
  readonly edit?: number;
  /** Also reverts everything after the overlay, restoring the window from before it. */
  readonly since?: true;
}

/** A single edit, not a plan or a revert. */
export type SingleEdit<M = Message, P = Part> = (ReplaceEdit<P> | HideEdit | SummarizeEdit<M>) & {
  /** True if the edit applies independently of policies: they edit the window with this edit applied. */
  readonly isLasting?: true;
};

/** Edits that were decided together. */
interface PlanEdit<M = Message, P = Part> extends EditBasis {
  readonly type: "plan";
  readonly edits: readonly SingleEdit<M, P>[];
}

/** One difference between the window and the log. */
export type Edit<M = Message, P = Part> = SingleEdit<M, P> | PlanEdit<M, P> | RevertEdit;

/** The edits that a stored edit consists of; none in one that reverts others. */
export function listSingleEdits(edit: Edit): readonly SingleEdit[] {
  if (edit.type === "revert") return [];
  return edit.type === "plan" ? edit.edits : [edit];
}

/** An edit whose data is not yet stored. */
export type EditInput = Edit<MessageInput, PartInput>;

/** Author of and reason for an edit. */
export interface EditReason {
  /** "longhaul", or the name of the foreign tool that made it. */
  readonly author: string;
  readonly reason: string;
  /** Time of the edit, if it differs from the entry's time. */
  readonly madeAt?: number;
  /** Tokens of the window before and after, if known. */
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  /** Cost and savings, for our own plans. */
  readonly receipt?: Receipt;
  /** Receipt of our own summaries. */
  readonly summary?: SummaryReceipt;
}
