import { estimateText } from "../../window/tokens/estimate.ts";
import { renderSummary } from "../contract/render-summary.ts";
import type { SummarySections } from "../contract/summary-sections.ts";
import { estimateItem } from "./fill-sections.ts";

/** Order in which sections lose items when a summary is too large. */
const DROP_ORDER = [
  "files",
  "identifiers",
  "concepts",
  "questions",
  "pending",
  "decisions",
  "problems",
  "previous",
  "constraints",
  "todos",
  "current",
  "asks",
] as const;

/** Enforces the budget: estimates of lines may not add up exactly, so items are dropped until the whole text fits. */
export function trimSummary(sections: SummarySections, budget: number): SummarySections {
  let kept = sections;
  for (let over = computeExcess(kept, budget); over > 0; over = computeExcess(kept, budget)) {
    const shorter = dropItems(kept, over);
    if (!shorter) break;
    kept = shorter;
  }
  return kept;
}

function computeExcess(sections: SummarySections, budget: number): number {
  return estimateText(renderSummary(sections)) - budget;
}

/** Drops items worth about `tokens` from the first section that has any, quotes first. Undefined if no item is left. */
function dropItems(sections: SummarySections, tokens: number): SummarySections | undefined {
  const key = DROP_ORDER.find((name) => sections[name].length > 0);
  if (!key) return undefined;
  let gone = 0;
  const kept = [...sections[key]];
  while (kept.length > 0 && gone < tokens) {
    const quote = kept.findIndex(({ isQuoted }) => isQuoted);
    const [item] = kept.splice(quote >= 0 ? quote : kept.length - 1, 1);
    if (item) gone += estimateItem(item);
  }
  return { ...sections, [key]: kept };
}
