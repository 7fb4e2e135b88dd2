import { estimateText } from "../../window-entry.ts";
import type { CallRequest } from "./call-request.ts";

/** Sends a request before it is stored, if it can; true if it did. */
export type ForwardFirst = () => boolean | Promise<boolean>;

/** True if the gateway may change the window of a request. */
export function mayEditWindow({ policy, isDryRun }: Pick<CallRequest, "policy" | "isDryRun">): boolean {
  return policy !== "none" && !isDryRun;
}

/** Estimated tokens of our tools in a request. */
export function countRecallTools({ frame: { recallTools } }: Pick<CallRequest, "frame">): number {
  return recallTools ? estimateText(JSON.stringify(recallTools)) : 0;
}
