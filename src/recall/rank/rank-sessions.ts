import { createArgumentError } from "../../model/errors.ts";

/** A session with its score. */
interface RankedSession<Name> {
  readonly session: Name;
  readonly score: number;
}

/** The facts of a hit that sessions are ranked by; a copy counts for its own session like the hit. */
interface SessionEvidence<Name> {
  readonly session: Name;
  readonly score: number;
  readonly parts: Readonly<Record<string, number>>;
  readonly copies?: readonly { readonly session: Name }[];
}

/** Weights of a session's three best hits. */
const FURTHER = [1, 0.15, 0.1] as const;

/**
 * Words find the turn, but meaning finds the subject, which matters for a session; the session's own score would count
 * twice.
 */
const MEANING_MORE = 1.5;
const SESSION_LESS = 0.6;

/** Orders the sessions of hits by their best ones: one answer counts most, further ones confirm it. */
export function rankSessions<Name extends string | number>(
  ranked: readonly SessionEvidence<Name>[],
): RankedSession<Name>[] {
  checkEvidence(ranked);
  const hits = ranked.flatMap(({ session, score, parts, copies = [] }) => {
    const own = score + MEANING_MORE * (parts.meaning ?? 0) - SESSION_LESS * (parts.session ?? 0);
    const sessions = new Set([session, ...copies.map((copy) => copy.session)]);
    return [...sessions].map((name) => ({ session: name, score: own }));
  });
  const lowest = hits.reduce((least, { score }) => Math.min(least, score), 0);
  const bySession = new Map<Name, number[]>();
  for (const { session, score } of hits) {
    const scores = bySession.get(session);
    if (scores) scores.push(score - lowest);
    else bySession.set(session, [score - lowest]);
  }
  const sessions = [...bySession].map(([session, scores]): RankedSession<Name> => {
    const best = scores.sort((left, right) => right - left);
    return { session, score: FURTHER.reduce((sum, share, place) => sum + share * (best[place] ?? 0), 0) };
  });
  return sessions.sort((left, right) => right.score - left.score || (left.session < right.session ? -1 : 1));
}

function checkEvidence(ranked: unknown): void {
  if (!Array.isArray(ranked) || !ranked.every(isEvidence))
    throw createArgumentError("ranked", ranked, "hits, each with a session, a score and its parts");
}

function isEvidence(hit: Partial<SessionEvidence<string | number>> | undefined): boolean {
  const { session, score, parts, copies = [] } = hit ?? {};
  const isNamed = typeof session === "string" || typeof session === "number";
  return isNamed && typeof score === "number" && typeof parts === "object" && Array.isArray(copies);
}
