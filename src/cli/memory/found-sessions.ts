import type { SessionHit, SessionId } from "../../index.ts";
import { rankSessions } from "../../memory-entry.ts";
import type { RecallResult } from "./recall-result.ts";

/** A session that a recall found. */
export interface FoundSession {
  readonly session: SessionId;
  readonly score: number;
  /** Its hits and the hits with a copy in it, best first. */
  readonly hits: readonly SessionHit[];
}

/** Orders the sessions of a recall, best first. */
export function findSessions({ hits }: RecallResult, limit: number): readonly FoundSession[] {
  const ofSessions = hits.filter((hit) => hit.kind === "session");
  return rankSessions(ofSessions)
    .slice(0, limit)
    .map(({ session, score }) => ({
      session,
      score,
      hits: ofSessions.filter((hit) => isIn(hit, session)),
    }));
}

function isIn(hit: SessionHit, session: SessionId): boolean {
  return hit.session === session || (hit.copies?.some((copy) => copy.session === session) ?? false);
}
