import { buildQuoteTest, type HistoryQuestion, rootOf } from "./history-question.ts";

/** A hit as far as it is judged. */
export interface HistoryHit {
  readonly text: string;
  readonly session: string;
  readonly atMs: number;
}

/** Ranks, from 1, of the first hit in the stretch and of its session; null if not found. */
export interface HistoryRanks {
  readonly place: number | null;
  readonly session: number | null;
}

/** Judges hits, best first; hits that quote the question are left out, since they need no search. */
export function judgeHits(
  question: Omit<HistoryQuestion, "kind">,
  hits: readonly HistoryHit[],
): HistoryRanks {
  const isQuote = buildQuoteTest(question);
  const left = hits.filter(({ text }) => !isQuote(text));
  const place = left.findIndex(
    ({ session, atMs }) =>
      rootOf(session) === question.session && atMs > question.fromMs && atMs <= question.toMs,
  );
  const sessions = [...new Set(left.map(({ session }) => rootOf(session)))];
  const session = sessions.indexOf(question.session);
  return { place: place < 0 ? null : place + 1, session: session < 0 ? null : session + 1 };
}
