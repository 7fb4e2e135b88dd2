import { rank } from "../../../src/memory/rank/rank.ts";
import { rankSessions } from "../../../src/memory/rank/rank-sessions.ts";
import { type Embedding, type InMemoryScope, indexItems } from "./in-memory-scope.ts";
import { createPlainRanker } from "./plain-bm25.ts";
import type { Item, Question } from "./question.ts";
import { type Score, scoreOrder } from "./scores.ts";

/** One question's scores by one ranking, at one level. */
export interface Asked {
  /** Data set and level: "longmemeval.turn.both". */
  readonly level: string;
  readonly category: string;
  readonly ours: Score;
  readonly plain: Score;
}

/** Orders of one question's items: ours and that of plain BM25. */
interface Orders {
  readonly turns: readonly number[];
  readonly sessions: readonly number[];
}

/** Asks questions one after another; what questions share is indexed once. */
export function createAsker(
  embedding: Embedding | null,
): (question: Question) => { ours: Orders; plain: Orders } {
  let last:
    | { items: readonly Item[]; scope: InMemoryScope; plain: (text: string) => Float64Array }
    | undefined;
  return ({ items, text, askedAtMs }) => {
    if (last?.items !== items) {
      const texts = items.map((item) =>
        item.speaker === null ? item.text : `${item.speaker}: ${item.text}`,
      );
      last = { items, scope: indexItems(items, embedding), plain: createPlainRanker(texts) };
    }
    const hits = rank(text, last.scope.candidates(text), last.scope.context(askedAtMs));
    const scores = last.plain(text);
    const plain = items
      .map((_, id) => id)
      .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
    return {
      ours: { turns: hits.map(({ id }) => id), sessions: rankSessions(hits).map(({ session }) => session) },
      plain: { turns: plain, sessions: [...new Set(plain.map((id) => items[id]?.session ?? -1))] },
    };
  };
}

/** Scores of a question at the level of turns, and of sessions where `withSessions`. */
export function ask(
  asker: ReturnType<typeof createAsker>,
  question: Question,
  level: string,
  withSessions: boolean,
): Asked[] {
  const { ours, plain } = asker(question);
  const { category, gold, goldSessions } = question;
  const turns: Asked = {
    level: `${question.set}.turn${level}`,
    category,
    ours: scoreOrder(ours.turns, gold),
    plain: scoreOrder(plain.turns, gold),
  };
  if (!withSessions) return [turns];
  return [
    turns,
    {
      level: `${question.set}.session${level}`,
      category,
      ours: scoreOrder(ours.sessions, goldSessions),
      plain: scoreOrder(plain.sessions, goldSessions),
    },
  ];
}

/** The question over what users said only; undefined when no such turn answers it. */
export function userTurnsOnly(question: Question): Question | undefined {
  const kept = question.items.flatMap((item, id) => (item.role === "user" ? [id] : []));
  const places = new Map(kept.map((id, place) => [id, place]));
  const gold = question.gold.flatMap((id) => places.get(id) ?? []);
  if (gold.length === 0) return undefined;
  return { ...question, items: kept.map((id) => question.items[id] as Item), gold };
}
