import { estimateText } from "../../window/tokens/estimate.ts";
import { renderSummary } from "../contract/render-summary.ts";
import type { SummarySections } from "../contract/summary.ts";
import { tokensOfItem } from "./fill.ts";

/** Order in which sections lose items when a summary is too large. */
const LEAVING = [
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
export function withinBudget(sections: SummarySections, budget: number): SummarySections {
  let kept = sections;
  for (let over = excess(kept, budget); over > 0; over = excess(kept, budget)) {
    const shorter = withLess(kept, over);
    if (!shorter) break;
    kept = shorter;
  }
  return kept;
}

function excess(sections: SummarySections, budget: number): number {
  return estimateText(renderSummary(sections)) - budget;
}

/** Drops items worth about `tokens` from the first section that has any, quotes first. Undefined if no item is left. */
function withLess(sections: SummarySections, tokens: number): SummarySections | undefined {
  const key = LEAVING.find((name) => sections[name].length > 0);
  if (!key) return undefined;
  let gone = 0;
  const kept = [...sections[key]];
  while (kept.length > 0 && gone < tokens) {
    const quote = kept.findIndex(({ isQuoted }) => isQuoted);
    const [item] = kept.splice(quote >= 0 ? quote : kept.length - 1, 1);
    if (item) gone += tokensOfItem(item);
  }
  return { ...sections, [key]: kept };
}
