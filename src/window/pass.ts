import type { SingleEdit } from "../model/overlay.ts";
import { applyEdits, type TokenEstimator } from "./apply-edits.ts";
import type { Slot } from "./slot.ts";

/** Facts about the session that a pass needs in addition to the window. */
export interface PassContext {
  /** Session id for the proposed edits; may be empty if the edits are only applied and never stored. */
  readonly session: string;
  readonly tokensOf: TokenEstimator;
  /** Seqs that the user has pinned. */
  readonly pins?: ReadonlySet<number>;
  /** Tokens of system prompt and tools; default 0. */
  readonly systemTokens?: number;
  /** Converts the estimated tokens of a whole request to the unit that the options use; identity by default. */
  readonly counted?: (estimated: number) => number;
}

/** One possible edit to a window, with the tokens it would free. */
export interface Proposal {
  readonly edit: SingleEdit;
  readonly reason: string;
  readonly freedTokens: number;
}

/** Proposes edits that would shrink a window. Pure: it changes nothing. */
export type Pass = (slots: readonly Slot[], context: PassContext) => readonly Proposal[];

/** Applies proposals to a window; returns the same array if there are none. */
export function applyProposals(
  slots: readonly Slot[],
  proposals: readonly Proposal[],
  tokensOf: TokenEstimator,
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
