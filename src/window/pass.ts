import type { SingleEdit } from "../model/overlay.ts";
import { applyEdits, type TokensOf } from "./apply-edits.ts";
import type { Slot } from "./slot.ts";

/** What a pass has to know besides the window. */
export interface PassContext {
  /** Whose log it is; may be empty where what is proposed is only applied and not stored. */
  readonly session: string;
  readonly tokensOf: TokensOf;
  /** Seqs that the user has pinned. */
  readonly pins?: ReadonlySet<number>;
  /** Tokens of system prompt and tools; none unless given. */
  readonly systemTokens?: number;
  /** Converts estimated tokens of a whole request into those that options name; the same unless given. */
  readonly counted?: (estimated: number) => number;
}

/** One change that could be made to a window, with what it would give back. */
export interface Proposal {
  readonly edit: SingleEdit;
  readonly reason: string;
  readonly freedTokens: number;
}

/** Looks at a window and says what could leave it. Pure: nothing is changed. */
export type Pass = (slots: readonly Slot[], context: PassContext) => readonly Proposal[];

/** The window with proposals carried out; the very same array where there are none. */
export function applyProposals(
  slots: readonly Slot[],
  proposals: readonly Proposal[],
  tokensOf: TokensOf,
): readonly Slot[] {
  const replacing = new Map<number, SingleEdit[]>();
  const others: SingleEdit[] = [];
  for (const { edit } of proposals) {
    if (edit.type !== "replace" || !("seq" in edit.target)) others.push(edit);
    else replacing.set(edit.target.seq, [...(replacing.get(edit.target.seq) ?? []), edit]);
  }
  const replaced =
    replacing.size === 0
      ? slots
      : slots.flatMap((slot) => {
          const own = replacing.get(slot.seq);
          return own ? applyEdits([slot], own, tokensOf) : [slot];
        });
  return applyEdits(replaced, others, tokensOf);
}
