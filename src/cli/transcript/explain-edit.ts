import type { Receipt } from "../../index.ts";
import type { EditReason } from "../../window-entry.ts";
import { formatQuantity } from "../format-count.ts";

/** Explains why an edit was made; if the reason only names the policy, the receipt explains it. */
export function explainEdit({ reason, receipt }: Pick<EditReason, "reason" | "receipt">): string {
  return receipt && reason === receipt.policy ? explainReceipt(receipt) : reason;
}

function explainReceipt({ isForced, cache, breakEvenCalls, policy }: Receipt): string {
  if (isForced) return "the window was over its limit";
  if (cache === "cold") return `the cache was cold, so ${policy} could edit for free`;
  if (breakEvenCalls === 0) return `${policy} estimated immediate savings`;
  if (breakEvenCalls === null) return `${policy} freed space`;
  return `${policy} estimated savings after ${formatQuantity(breakEvenCalls, "more call")}`;
}
