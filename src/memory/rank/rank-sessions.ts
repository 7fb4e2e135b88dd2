import type { RankedHit } from "./rank.ts";

/** A session with its score. */
export interface SessionHit {
  readonly session: number;
  readonly score: number;
}

/** How much a session's second and third best hits add to its best. */
const FURTHER = [1, 0.15, 0.1] as const;

/** Words find the turn, but meaning the subject, and that is what a session has; its own prior would count twice. */
const MEANING_MORE = 1.5;
const SESSION_LESS = 0.6;

/** Orders sessions by their best hits: one that answers counts most, further ones confirm it. */
export function rankSessions(ranked: readonly RankedHit[]): SessionHit[] {
  const hits = ranked.map(({ session, score, parts }) => ({
    session,
    score: score + MEANING_MORE * parts.meaning - SESSION_LESS * parts.session,
  }));
  const lowest = hits.reduce((least, { score }) => Math.min(least, score), 0);
  const bySession = new Map<number, number[]>();
  for (const { session, score } of hits) {
    const scores = bySession.get(session);
    if (scores) scores.push(score - lowest);
    else bySession.set(session, [score - lowest]);
  }
  const sessions = [...bySession].map(([session, scores]): SessionHit => {
    const best = scores.sort((left, right) => right - left);
    return { session, score: FURTHER.reduce((sum, share, place) => sum + share * (best[place] ?? 0), 0) };
  });
  return sessions.sort((left, right) => right.score - left.score || left.session - right.session);
}
