/** Share of a request that an edit has to free, unless the request cannot be sent without it. */
export const MIN_FREED_SHARE = 0.05;

/** A request before and after an edit, in the same tokens. */
export interface EditSize {
  readonly before: number;
  readonly after: number;
}

/** An edit that a policy proposes. */
export interface ProposedEdit extends EditSize {
  /** True if the request cannot be sent without the edit: the limit, a refusal or a rule of the provider forces it. */
  readonly isNeeded: boolean;
  /** True if all that stands in the window stays in it. */
  readonly isAddition: boolean;
}

/**
 * Decides whether a proposed edit is carried out. Each edit that takes something away without need frees a real share of
 * the request, so their number is bounded by how much is said, and not by how often the model is called.
 */
export function isWorthEditing(edit: ProposedEdit): boolean {
  return edit.isNeeded || edit.isAddition || isProgress(edit);
}

/** Tells whether an edit leaves a request that is too large about as large as it was. */
export function isStuck(edit: EditSize, maxTokens: number): boolean {
  return edit.after > maxTokens && !isProgress(edit);
}

function isProgress({ before, after }: EditSize): boolean {
  const freed = before - after;
  return freed > 0 && freed >= before * MIN_FREED_SHARE;
}
