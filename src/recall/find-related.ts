import type { SessionId } from "../model/entry.ts";
import type { Place } from "../model/place.ts";
import type { RelatedContent, RelatedStretch } from "../model/related-content.ts";
import { computeCertainty, computeSpecificity } from "./certainty.ts";
import type { ChunkPlace, ChunkTexts } from "./index/chunk-texts.ts";
import type { CandidateLimits } from "./index/find-candidates.ts";
import type { IndexSearch } from "./index-search.ts";

/** Number of chunks of one conversation without a vector to embed before the search. */
const MAX_EMBEDDED_OF_SESSION = 8_192;

/** A single conversation is small enough for a closer search than all sessions together. */
const SESSION_LIMITS: CandidateLimits = {
  byText: 120,
  byVector: 90,
  wholeTurns: 30,
  turnsWithNeighbors: 30,
  maxTurnChunks: 4,
};

/** Options of a search for related content. */
export interface RelatedOptions {
  /** Entries of its session from here on are excluded. */
  readonly before?: Place;
  readonly signal?: AbortSignal;
}

/** Finds stretches of indexed sessions that relate to a question, best first. */
export async function findRelated(
  search: IndexSearch,
  texts: ChunkTexts,
  question: string,
  sessions: readonly SessionId[],
  { before, signal }: RelatedOptions,
): Promise<RelatedContent> {
  const { found, ranked, terms, context } = await search.search(question, {
    scope: { sessions },
    limits: SESSION_LIMITS,
    embeddedFirst: MAX_EMBEDDED_OF_SESSION,
    ...(before && { before }),
    ...(signal && { signal }),
  });
  const stretches: RelatedStretch[] = [];
  for (const { chunk, score } of ranked) {
    const source = await texts.findSource(chunk.source);
    if (source?.kind !== "session" || chunk.author === "none") continue;
    const read = (maxCharacters: number) => readAround(texts, chunk, maxCharacters);
    stretches.push({ session: source.name, seq: chunk.seq, author: chunk.author, at: chunk.at, score, read });
  }
  return {
    stretches,
    certainty: computeCertainty(terms, ranked.slice(0, 3), found, context),
    specificity: computeSpecificity(terms, context),
  };
}

/** The text that contains a chunk, or as much of it around the chunk as fits, cut at line breaks if possible. */
async function readAround(
  texts: ChunkTexts,
  chunk: ChunkPlace,
  maxCharacters: number,
): Promise<string | undefined> {
  const whole = await texts.readWhole(chunk);
  if (whole === undefined || whole.length <= maxCharacters) return whole;
  const spare = Math.max(0, maxCharacters - (chunk.to - chunk.from));
  let from = Math.max(0, chunk.from - Math.floor(spare / 3));
  let to = Math.min(whole.length, from + maxCharacters);
  from = Math.max(0, Math.min(from, to - maxCharacters));
  const firstBreak = whole.indexOf("\n", from);
  if (from > 0 && firstBreak >= 0 && firstBreak < chunk.from) from = firstBreak + 1;
  const lastBreak = whole.lastIndexOf("\n", to);
  if (to < whole.length && lastBreak > chunk.to) to = lastBreak;
  return whole.slice(from, to).toWellFormed();
}
