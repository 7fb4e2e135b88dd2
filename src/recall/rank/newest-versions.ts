import { EVIDENCE } from "../text/evidence.ts";
import type { RankedHit } from "./feature-list.ts";
import type { Query } from "./query.ts";
import type { TurnCandidate } from "./turn-candidate.ts";

/** Number of hits to compare; lower-ranked hits are not moved. */
const MAX_COMPARED = 40;
/** Minimum share of common terms of two versions, for short and for longer texts. */
const LIKE_SHORT = 0.6;
const LIKE_LONG = 0.8;
const SHORT_TERMS = 20;
/** Minimum share of the question's terms in a version; a text with fewer is about something else. */
const MIN_ASKED = 0.5;
/** Minimum number of common terms for a meaningful comparison. */
const MIN_COMMON = 2;

/** Questions about an earlier state, for which the older version is as good an answer. */
const ASKS_FOR_OLD =
  /\b(?:first|original(?:ly)?|initial(?:ly)?|used to|previous(?:ly)?|before|earlier|earliest|old(?:er|est)?|former(?:ly)?|history|histor(?:ic|ical)|chang(?:e|es|ed))\b|最初|原来|原先|以前|之前|先前|当初|旧|历史|变化/i;

/** True if a question asks for an earlier state. */
export function asksForOldState(question: string): boolean {
  return ASKS_FOR_OLD.test(question);
}

/** The properties by which a hit is recognized as a version of another. */
interface Version {
  /** The author, and the question terms that the hit contains. */
  readonly key: string;
  /** The hit's terms without numbers, which are the values that versions differ in. */
  readonly terms: ReadonlySet<string>;
}

/**
 * Reorders the hits so that the newest version of a fact comes before older ones; versions swap positions and scores,
 * all other hits stay. The newest must have at least a share of the best version's score.
 */
export function putNewestVersionsFirst(
  question: string,
  query: Query,
  hits: readonly RankedHit[],
  candidateOf: (hit: RankedHit) => TurnCandidate | undefined,
  leastShare = 0,
): RankedHit[] {
  const ordered = [...hits];
  if (query.windows.length > 0 || asksForOldState(question)) return ordered;
  for (const places of findVersions(query, hits.slice(0, MAX_COMPARED), candidateOf)) {
    const atOf = (place: number) => candidateOf(hits[place] as RankedHit)?.atMs ?? 0;
    // Of two messages of one millisecond, the one that was indexed later is newer.
    const chunkOf = (place: number) => hits[place]?.chunk ?? 0;
    const newest = [...places].sort(
      (left, right) => atOf(right) - atOf(left) || chunkOf(right) - chunkOf(left),
    );
    const [best, last] = [hits[places[0] as number], hits[newest[0] as number]] as [RankedHit, RankedHit];
    if (last.score < leastShare * best.score) continue;
    for (const [index, place] of places.entries()) {
      const hit = hits[newest[index] as number] as RankedHit;
      const { score } = hits[place] as RankedHit;
      ordered[place] = { ...hit, score, parts: { ...hit.parts, recency: score - hit.score } };
    }
  }
  return ordered;
}

/** Indexes of hits that are versions of one another, in groups of at least two, each in order. */
function findVersions(
  query: Query,
  hits: readonly RankedHit[],
  candidateOf: (hit: RankedHit) => TurnCandidate | undefined,
): number[][] {
  const asked = new Set(query.terms);
  const groups: { readonly first: Version; readonly places: number[] }[] = [];
  for (const [place, hit] of hits.entries()) {
    const candidate = candidateOf(hit);
    const version = candidate && readVersion(candidate, hit.chunk, asked);
    if (!version) continue;
    const group = groups.find(({ first }) => first.key === version.key && isLike(first.terms, version.terms));
    if (group) group.places.push(place);
    else groups.push({ first: version, places: [place] });
  }
  return groups.map(({ places }) => places).filter(({ length }) => length > 1);
}

/** Steps of an agent's work repeat, but a later one does not replace an earlier one as a newer statement does. */
const STEP = EVIDENCE.call | EVIDENCE.reasoning;

/** Undefined for a hit without a time, for a step of work, or with too few of the question's terms. */
function readVersion(
  { author, speaker, atMs, chunks }: TurnCandidate,
  chunk: number | null,
  asked: ReadonlySet<string>,
): Version | undefined {
  const own = chunks.find(({ id }) => id === chunk);
  if (!own || atMs === null || author === "tool" || (own.traits & STEP) !== 0) return undefined;
  const terms = new Set(own.terms.filter((term) => !/\d/.test(term)));
  const matched = [...new Set(own.terms)].filter((term) => asked.has(term)).sort();
  return matched.length === 0 || matched.length < MIN_ASKED * asked.size
    ? undefined
    : { key: `${author} ${speaker ?? ""}: ${matched.join(" ")}`, terms };
}

function isLike(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  const both = left.size + right.size;
  const least = both > 2 * SHORT_TERMS ? LIKE_LONG : LIKE_SHORT;
  let common = 0;
  for (const term of left) if (right.has(term)) common++;
  return common >= MIN_COMMON && 2 * common >= least * both;
}
