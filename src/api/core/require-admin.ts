import { type ApiCaller, isAdminCaller } from "./api-caller.ts";
import { ApiError } from "./api-error.ts";

/** Throws FORBIDDEN unless an admin asks. */
export function requireAdmin(caller: ApiCaller): void {
  if (!isAdminCaller(caller)) throw new ApiError("FORBIDDEN", "Only an admin may do this.");
}
