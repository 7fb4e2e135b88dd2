import type { RankedHit } from "./rank-turns.ts";

/** A session with its score. */
interface RankedSession {
  readonly session: number;
  readonly score: number;
}

/** Weights of a session's three best hits. */
const FURTHER = [1, 0.15, 0.1] as const;

/**
 * Words find the turn, but meaning finds the subject, which matters for a session; the session's own score would count
 * twice.
 */
const MEANING_MORE = 1.5;
const SESSION_LESS = 0.6;

/** Orders sessions by their best hits: one answer counts most, further ones confirm it. */
export function rankSessions(ranked: readonly RankedHit[]): RankedSession[] {
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
  const sessions = [...bySession].map(([session, scores]): RankedSession => {
    const best = scores.sort((left, right) => right - left);
    return { session, score: FURTHER.reduce((sum, share, place) => sum + share * (best[place] ?? 0), 0) };
  });
  return sessions.sort((left, right) => right.score - left.score || left.session - right.session);
}
