import { hasAnswer, isStated, packTexts } from "./answerable.ts";
import { createPlainRanker } from "./plain-bm25.ts";
import type { Item, Question } from "./question.ts";
import { type RankedItems, rankItems } from "./rank-items.ts";
import { type Orders, type RememberedItems, rememberItems } from "./remember-items.ts";
import { type Score, scoreOrder } from "./scores.ts";

/**
 * Scores of one question at one level: of `recall`, of ranking alone with every turn a candidate, and of plain BM25.
 */
export interface Asked {
  /** Data set and level: "longmemeval.turn.both". */
  readonly level: string;
  readonly category: string;
  readonly recall: Score;
  readonly ranking: Score;
  readonly plain: Score;
  /** Whether the returned texts contain the answer, for turns of questions whose answer their sources state. */
  readonly isAnswerable?: { readonly recall: boolean; readonly plain: boolean };
}

/** Indexes shared by questions over the same items. */
interface Scope {
  readonly items: readonly Item[];
  readonly remembered: RememberedItems;
  readonly ranked: RankedItems;
  readonly plain: (question: string) => Float64Array;
}

/**
 * Asks questions at turn level, and with `withSessions` also at session level; questions of one scope must be adjacent.
 */
export async function askAll(
  questions: readonly Question[],
  level: string,
  withSessions: boolean,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  let scope: Scope | undefined;
  for (const question of questions) {
    if (scope?.items !== question.items) {
      await scope?.remembered.close();
      scope = await openScope(question.items);
    }
    const { text, askedAtMs, set, category, gold, goldSessions } = question;
    const recall = await scope.remembered.recall(text, askedAtMs);
    const ranking = scope.ranked(text, askedAtMs);
    const plain = plainOrders(scope, text);
    const score = (kind: keyof Orders, answers: readonly number[]): Asked => ({
      level: `${set}.${kind === "turns" ? "turn" : "session"}${level}`,
      category,
      recall: scoreOrder(recall[kind], answers),
      ranking: scoreOrder(ranking[kind], answers),
      plain: scoreOrder(plain[kind], answers),
    });
    const { answer, items } = question;
    const isAnswerable = answer !== null &&
      isStated(answer, items, gold) && {
        recall: hasAnswer(answer, packTexts(recall.texts)),
        plain: hasAnswer(answer, packTexts(plain.turns.flatMap((id) => items[id] ?? []))),
      };
    asked.push({ ...score("turns", gold), ...(isAnswerable && { isAnswerable }) });
    if (withSessions) asked.push(score("sessions", goldSessions));
  }
  await scope?.remembered.close();
  return asked;
}

async function openScope(items: readonly Item[]): Promise<Scope> {
  const texts = items.map(({ speaker, text }) => (speaker === null ? text : `${speaker}: ${text}`));
  return {
    items,
    remembered: await rememberItems(items),
    ranked: rankItems(items),
    plain: createPlainRanker(texts),
  };
}

function plainOrders({ items, plain }: Scope, question: string): Orders {
  const scores = plain(question);
  const turns = items
    .map((_, id) => id)
    .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  return { turns, sessions: [...new Set(turns.map((id) => items[id]?.session ?? -1))] };
}

/** The question over user turns only; undefined if no such turn answers it. */
export function userTurnsOnly(question: Question): Question | undefined {
  const kept = question.items.flatMap((item, id) => (item.role === "user" ? [id] : []));
  const places = new Map(kept.map((id, place) => [id, place]));
  const gold = question.gold.flatMap((id) => places.get(id) ?? []);
  if (gold.length === 0) return undefined;
  return { ...question, items: kept.map((id) => question.items[id] as Item), gold };
}
