import { withoutSpeakers } from "../../../src/recall/rank/query.ts";
import type { RankContext, TermVectors, TurnCandidate } from "../../../src/recall/rank/turn-candidate.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { splitText } from "../../../src/recall/text/split-text.ts";
import { detectTraits } from "../../../src/recall/text/traits.ts";
import type { Item } from "./question.ts";

/** An embedder and its term vectors. */
export interface Embedding {
  readonly id: string;
  readonly dimensions: number;
  readonly vectors: TermVectors;
  embed(texts: readonly string[]): Float32Array[];
}

/** An in-memory index of one scope; each item is a candidate. */
export interface InMemoryScope {
  candidates(question: string): TurnCandidate[];
  context(nowMs: number | null): RankContext;
}

/** Indexes the items of one scope like the real index, but without a store. */
export function indexItems(items: readonly Item[], embedding: Embedding | null): InMemoryScope {
  const frequencies = new Map<string, number>();
  const sessionLengths = new Map<number, number>();
  const positions = new Map<number, number>();
  let chunkCount = 0;
  let termCount = 0;
  const indexed = items.map((item, id) => {
    const parts = splitText(item.text).map(({ from, to }) => {
      const text = item.text.slice(from, to);
      const terms = analyzeText(text);
      for (const term of new Set(terms)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
      termCount += terms.length;
      return { id: chunkCount++, terms, traits: detectTraits(text), vector: embedding?.embed([text])[0] };
    });
    const length = parts.reduce((sum, { terms }) => sum + terms.length, 0);
    sessionLengths.set(item.session, (sessionLengths.get(item.session) ?? 0) + length);
    const position = positions.get(item.session) ?? 0;
    positions.set(item.session, position + 1);
    return { id, item, position, length, parts };
  });
  const speakers = [...new Set(items.flatMap(({ speaker }) => speaker ?? []))];
  const statistics = {
    chunks: chunkCount,
    averageChunkLength: termCount / Math.max(1, chunkCount),
    averageLength: termCount / Math.max(1, items.length),
    sessions: sessionLengths.size,
    averageSessionLength: termCount / Math.max(1, sessionLengths.size),
    frequencyOf: (term: string) => frequencies.get(term) ?? 0,
    sessionLengthOf: (session: number) => sessionLengths.get(session) ?? 0,
  };
  return {
    context: (nowMs) => ({ statistics, nowMs, speakers, vectors: embedding?.vectors ?? null }),
    candidates(question) {
      const target = embedding?.embed([withoutSpeakers(question, speakers)])[0];
      return indexed.map(({ id, item, position, length, parts }) => ({
        id,
        session: item.session,
        position,
        author: item.role,
        speaker: item.speaker,
        atMs: item.atMs,
        length,
        chunks: parts.map(({ id: chunk, terms, traits, vector }) => ({
          id: chunk,
          terms,
          traits,
          similarity: target && vector ? dot(target, vector) : null,
        })),
      }));
    },
  };
}

function dot(left: Float32Array, right: Float32Array): number {
  let product = 0;
  for (let axis = 0; axis < left.length; axis++) product += (left[axis] as number) * (right[axis] as number);
  return product;
}
