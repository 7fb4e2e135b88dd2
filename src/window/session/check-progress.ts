import type { Comparison } from "../../model/receipt.ts";
import { isStuck } from "./edit-guard.ts";
import { createStuckError } from "./window-errors.ts";
import type { WindowSettings } from "./window-settings.ts";

/** Throws WINDOW_STUCK if an edit leaves an oversized request at about the same size. */
export function checkProgress(tokens: Comparison, { limits, policy }: WindowSettings): void {
  if (isStuck({ before: tokens.without, after: tokens.with }, limits.most))
    throw createStuckError(policy.name, tokens, limits.most);
}
