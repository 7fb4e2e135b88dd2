/** Minimum share of a request that an edit must free, unless the request cannot be sent without it. */
export const MIN_FREED_SHARE = 0.05;

/** Size of a request before and after an edit, in the same tokens. */
interface EditSize {
  readonly before: number;
  readonly after: number;
}

/** An edit that a policy proposes. */
interface ProposedEdit extends EditSize {
  /** True if the request cannot be sent without the edit: a limit, a refusal or a rule of the provider forces it. */
  readonly isNeeded: boolean;
  /** True if the edit removes nothing from the window. */
  readonly isAddition: boolean;
}

/**
 * Decides whether to apply a proposed edit. Every optional removal must free a real share of the request, so the number
 * of edits is bounded by the length of the conversation and not by the number of calls.
 */
export function isWorthEditing(edit: ProposedEdit): boolean {
  return edit.isNeeded || edit.isAddition || isProgress(edit);
}

/** True if an edit leaves an oversized request at about the same size. */
export function isStuck(edit: EditSize, maxTokens: number): boolean {
  return edit.after > maxTokens && !isProgress(edit);
}

function isProgress({ before, after }: EditSize): boolean {
  const freed = before - after;
  return freed > 0 && freed >= before * MIN_FREED_SHARE;
}
