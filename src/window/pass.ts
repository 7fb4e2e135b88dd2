import type { Edit } from "../model/overlay.ts";
import type { TokensOf } from "./apply-edits.ts";
import type { Slot } from "./slot.ts";

/** What a pass has to know besides the window. */
export interface PassContext {
  readonly session: string;
  readonly tokensOf: TokensOf;
  /** Seqs that the user has pinned. */
  readonly pins?: ReadonlySet<number>;
}

/** One change that could be made to a window, with what it would give back. */
export interface Proposal {
  readonly edit: Edit;
  readonly reason: string;
  readonly freedTokens: number;
}

/** Looks at a window and says what could leave it. Pure: nothing is changed. */
export type Pass = (slots: readonly Slot[], context: PassContext) => readonly Proposal[];
