import type { RankContext, TermVectors, TurnCandidate } from "../../../src/recall/rank/turn-candidate.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { splitText } from "../../../src/recall/text/split-text.ts";
import { detectTraits } from "../../../src/recall/text/traits.ts";

/** A turn as written in a test. */
export interface Said {
  readonly text: string;
  readonly author?: TurnCandidate["author"];
  readonly speaker?: string;
  readonly session?: number;
  readonly at?: string;
  readonly similarity?: number;
}

/** Every turn as a candidate, with statistics over exactly these turns. */
export function scopeOf(
  said: readonly Said[],
  { now, vectors = null }: { readonly now?: string; readonly vectors?: TermVectors | null } = {},
): { candidates: TurnCandidate[]; context: RankContext } {
  const positions = new Map<number, number>();
  let nextChunk = 100;
  const candidates = said.map(
    ({ text, author = "user", speaker, session = 0, at, similarity }, id): TurnCandidate => {
      const position = positions.get(session) ?? 0;
      positions.set(session, position + 1);
      const parts = splitText(text).map(({ from, to }) => ({
        id: nextChunk++,
        terms: analyzeText(text.slice(from, to)),
        traits: detectTraits(text.slice(from, to)),
        similarity: similarity ?? null,
      }));
      const length = parts.reduce((sum, { terms }) => sum + terms.length, 0);
      const atMs = at === undefined ? null : Date.parse(at);
      return { id, session, position, author, speaker: speaker ?? null, atMs, length, chunks: parts };
    },
  );
  const all = candidates.flatMap((candidate) => candidate.chunks);
  const total = candidates.reduce((sum, { length }) => sum + length, 0);
  const sessionLength = (session: number) =>
    candidates.filter((one) => one.session === session).reduce((sum, { length }) => sum + length, 0);
  return {
    candidates,
    context: {
      nowMs: now === undefined ? null : Date.parse(now),
      speakers: [...new Set(said.flatMap(({ speaker }) => speaker ?? []))],
      vectors,
      statistics: {
        chunks: all.length,
        averageChunkLength: total / Math.max(1, all.length),
        averageLength: total / Math.max(1, candidates.length),
        sessions: positions.size,
        averageSessionLength: total / Math.max(1, positions.size),
        frequencyOf: (term) => all.filter(({ terms }) => terms.includes(term)).length,
        sessionLengthOf: sessionLength,
      },
    },
  };
}
