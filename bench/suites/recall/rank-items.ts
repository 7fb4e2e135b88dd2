import { rankSessions } from "../../../src/recall/rank/rank-sessions.ts";
import { rankTurns } from "../../../src/recall/rank/rank-turns.ts";
import { indexItems } from "./in-memory-scope.ts";
import { loadEmbedding } from "./load-embedding.ts";
import type { Item } from "./question.ts";
import type { Orders } from "./remember-items.ts";

/** Ranks all items of one scope. */
export type RankedItems = (question: string, askedAtMs: number | null) => Orders;

/** Ranking alone, with every item a candidate: the result of `recall` if its index missed nothing. */
export function rankItems(items: readonly Item[]): RankedItems {
  const scope = indexItems(items, loadEmbedding());
  return (question, askedAtMs) => {
    const hits = rankTurns(question, scope.candidates(question), scope.context(askedAtMs));
    return {
      turns: hits.map(({ id }) => id),
      sessions: rankSessions(hits).map(({ session }) => session),
    };
  };
}
