import type { Edit, EditReason } from "../../kernel/faces/window.ts";
import type { Receipt } from "../../kernel/index.ts";
import { formatQuantity } from "../terminal/format-count.ts";

/** Describes an edit of the window. */
export function describeEdit(edit: Edit): string {
  switch (edit.type) {
    case "replace":
      return "callId" in edit.target
        ? `replaced the result of ${edit.target.callId}`
        : `replaced content of #${edit.target.seq}`;
    case "hide":
      return `hid ${formatRanges(edit.ranges)}`;
    case "summarize":
      return `summarized ${formatRanges(edit.ranges)}`;
    case "plan":
      return "rebuilt the window";
    case "revert":
      return describeRevert(edit);
  }
}

function describeRevert({ overlay, edit, since }: Extract<Edit, { type: "revert" }>): string {
  const what = edit === undefined ? "the change" : `edit ${edit} of the change`;
  return `reverted ${what} at #${overlay}${since ? " and all later ones" : ""}`;
}

function formatRanges(ranges: readonly { readonly from: number; readonly to: number }[]): string {
  const told = ranges.filter(({ from, to }) => from <= to);
  const [first] = told;
  if (!first) return "nothing";
  const more = told.length > 1 ? ` and ${told.length - 1} more` : "";
  return `#${first.from} to #${first.to}${more}`;
}

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
