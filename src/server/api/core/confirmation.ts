import { computeDigest } from "../../../model/base/digest.ts";
import { ApiError } from "./api-error.ts";

const DIGITS = 32;

/** The `confirm` of a preview: another preview has another one. */
export function computeConfirmation(action: string, preview: object): string {
  return computeDigest(`${action}\n${JSON.stringify(preview)}`, DIGITS);
}

/** True if a call carries the `confirm` of this preview; throws PREVIEW_CHANGED if it is that of another one. */
export function isConfirmed(expected: string, confirm: string | undefined): boolean {
  if (confirm === undefined) return false;
  if (confirm === expected) return true;
  throw new ApiError(
    "PREVIEW_CHANGED",
    "What the call would erase differs from the preview that `confirm` names.",
  );
}
