import { estimateText } from "../../tokens/estimate.ts";
import { renderItem, renderSummary } from "../contract/render-summary.ts";
import type { SectionKey } from "../contract/sections.ts";
import { buildSections, type SummaryItem, type SummarySections } from "../contract/summary-sections.ts";
import type { SectionCandidates, SummaryCandidate } from "./summary-candidate.ts";

/** Share of the room that each section may take, in the order of allocation; the rest is used for quotes. */
const SHARES: readonly (readonly [SectionKey, number])[] = [
  ["asks", 0.2],
  ["current", 0.12],
  ["todos", 0.1],
  ["constraints", 0.08],
  ["previous", 0.22],
  ["decisions", 0.08],
  ["problems", 0.14],
  ["files", 0.14],
  ["pending", 0.06],
  ["questions", 0.05],
  ["concepts", 0.03],
];
/** Every section may use at least this many tokens. */
const MIN_TOKENS = 24;
const FENCE_TOKENS = 40;
const HEADING_TOKENS = 10;
/** Tokens that joining lines may add to the sum of their estimates. */
const BREAK_TOKENS = 1;
/** Maximum tokens of any section, however large the room is. */
const MAX_TOKENS = 4_000;

/** Filled sections, and the tokens left over. */
interface FilledSections {
  readonly sections: SummarySections;
  readonly leftTokens: number;
}

/** Chooses the best candidates of each section within its share, and returns them in display order. */
export function fillSections(candidates: SectionCandidates, room: number): FilledSections {
  const chosen = new Map<SectionKey, ReadonlySet<SummaryCandidate>>();
  let left = room;
  for (const [key, share] of SHARES) {
    const most = Math.min(left, MAX_TOKENS, Math.max(MIN_TOKENS, share * room));
    const taken = chooseBest(candidates[key], most);
    chosen.set(key, taken.chosen);
    left -= taken.tokens;
  }
  const itemsOf = (key: SectionKey) =>
    candidates[key].filter((candidate) => chosen.get(key)?.has(candidate)).map(({ item }) => item);
  return { sections: buildSections(itemsOf), leftTokens: left };
}

/** Tokens of a rendered item. */
export function estimateItem(item: SummaryItem): number {
  return estimateText(renderItem(item)) + BREAK_TOKENS;
}

function chooseBest(candidates: readonly SummaryCandidate[], most: number) {
  const chosen = new Set<SummaryCandidate>();
  let tokens = 0;
  let hasFence = false;
  for (const candidate of candidates.toSorted((one, other) => one.rank - other.rank)) {
    const { item } = candidate;
    const frame = item.isQuoted ? HEADING_TOKENS + (hasFence ? 0 : FENCE_TOKENS) : 0;
    const cost = estimateItem(item) + frame;
    if (tokens + cost > most) continue;
    tokens += cost;
    hasFence ||= item.isQuoted === true;
    chosen.add(candidate);
  }
  return { chosen, tokens };
}

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

/** Enforces the limit: estimates of lines may not add up exactly, so items are dropped until the whole text fits. */
export function trimSummary(sections: SummarySections, maxTokens: number): SummarySections {
  let kept = sections;
  for (let over = computeExcess(kept, maxTokens); over > 0; over = computeExcess(kept, maxTokens)) {
    const shorter = dropItems(kept, over);
    if (!shorter) break;
    kept = shorter;
  }
  return kept;
}

function computeExcess(sections: SummarySections, maxTokens: number): number {
  return estimateText(renderSummary(sections)) - maxTokens;
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
