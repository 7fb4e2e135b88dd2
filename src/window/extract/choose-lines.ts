import type { ClueTracker } from "./clue-tracker.ts";
import type { LineList, QuoteSource } from "./line-list.ts";

/** Limits for choosing lines. */
interface LineCriteria {
  /** Total tokens for all chosen lines. */
  readonly roomTokens: number;
  /** Minimum expected use per token of a line. */
  readonly minWorth: number;
}

const HEADING_TOKENS = 12;
const MIN_ROOM_TOKENS = 20;
/** Lines are ranked in steps: this many for each doubling of their worth. */
const STEPS = 8;
const MAX_RANK = 16 * STEPS;
/** A line whose worth has dropped by more steps than this is ranked again. */
const STALE_STEPS = 2;

/**
 * Chooses the lines that are worth their tokens and returns their indexes. Greedy by expected use per token, starting
 * from `worths`; each clue counts once, because a chosen line covers its clues.
 */
export function chooseLines(
  lines: LineList,
  worths: Float32Array,
  clues: ClueTracker,
  { roomTokens: room, minWorth: least }: LineCriteria,
): readonly number[] {
  const { tokens, ends, clues: all } = lines.columns;
  const ranks: number[][] = Array.from({ length: MAX_RANK + 1 }, () => []);
  for (const [index, worth] of worths.entries())
    if (worth > least) ranks[computeRank(worth / least)]?.push(index);
  const chosen: number[] = [];
  const headed = new Set<QuoteSource>();
  let left = room;
  for (let rank = MAX_RANK; rank >= 0 && left > MIN_ROOM_TOKENS; rank--) {
    const ranked = ranks[rank] as number[];
    for (let place = ranked.length - 1; place >= 0 && left > MIN_ROOM_TOKENS; place--) {
      const index = ranked[place] as number;
      const source = lines.sources[index] as QuoteSource;
      const cost = (tokens[index] as number) + (headed.has(source) ? 0 : HEADING_TOKENS);
      if (cost > left) continue;
      const from = index === 0 ? 0 : (ends[index - 1] as number);
      const to = ends[index] as number;
      const worth = clues.sumWorth(all, from, to) / cost;
      if (worth <= least) continue;
      const now = computeRank(worth / least);
      if (now < rank - STALE_STEPS) {
        ranks[now]?.push(index);
        continue;
      }
      chosen.push(index);
      headed.add(source);
      left -= cost;
      clues.cover(all, from, to);
    }
  }
  return chosen;
}

/** The rank of a line whose worth is `multiple` times the minimum. */
function computeRank(multiple: number): number {
  return Math.min(MAX_RANK, Math.max(0, Math.floor(Math.log2(multiple) * STEPS)));
}
