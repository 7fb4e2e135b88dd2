import { estimateText } from "../../window/tokens/estimate.ts";
import { textOfItem } from "../contract/render-summary.ts";
import type { SectionKey } from "../contract/sections.ts";
import { type SummaryItem, type SummarySections, sectionsFrom } from "../contract/summary.ts";
import type { Candidate, Candidates } from "./candidate.ts";

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
const LEAST_TOKENS = 24;
const FENCE_TOKENS = 40;
const HEADING_TOKENS = 10;
/** Tokens that joining lines may add to the sum of their estimates. */
const BREAK_TOKENS = 1;
/** Maximum tokens of any section, however large the room is. */
const MOST_TOKENS = 4_000;

/** Filled sections, and the tokens left over. */
export interface Filled {
  readonly sections: SummarySections;
  readonly left: number;
}

/** Chooses the best candidates of each section within its share, and returns them in display order. */
export function fill(candidates: Candidates, room: number): Filled {
  const chosen = new Map<SectionKey, ReadonlySet<Candidate>>();
  let left = room;
  for (const [key, share] of SHARES) {
    const most = Math.min(left, MOST_TOKENS, Math.max(LEAST_TOKENS, share * room));
    const taken = best(candidates[key], most);
    chosen.set(key, taken.chosen);
    left -= taken.tokens;
  }
  const itemsOf = (key: SectionKey) =>
    candidates[key].filter((candidate) => chosen.get(key)?.has(candidate)).map(({ item }) => item);
  return { sections: sectionsFrom(itemsOf), left };
}

/** Tokens of a rendered item. */
export function tokensOfItem(item: SummaryItem): number {
  return estimateText(textOfItem(item)) + BREAK_TOKENS;
}

function best(candidates: readonly Candidate[], most: number) {
  const chosen = new Set<Candidate>();
  let tokens = 0;
  let hasFence = false;
  for (const candidate of candidates.toSorted((one, other) => one.rank - other.rank)) {
    const { item } = candidate;
    const frame = item.isQuoted ? HEADING_TOKENS + (hasFence ? 0 : FENCE_TOKENS) : 0;
    const cost = tokensOfItem(item) + frame;
    if (tokens + cost > most) continue;
    tokens += cost;
    hasFence ||= item.isQuoted === true;
    chosen.add(candidate);
  }
  return { chosen, tokens };
}
