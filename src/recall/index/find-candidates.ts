import type { MemoryStore, SourceRecord, StoredChunk, TurnRange } from "../../log/store/memory-store.ts";
import type { FileCandidate } from "../rank/rank-files.ts";
import type { TimeWindow } from "../rank/time-window.ts";
import type { CandidateChunk, Statistics, TurnCandidate } from "../rank/turn-candidate.ts";
import type { ScoredChunk, SourceFilter } from "../scored-chunk.ts";
import { EVIDENCE } from "../text/evidence.ts";
import type { VectorIndex } from "../vectors/vector-index.ts";
import type { TextIndex } from "./text-index.ts";

/** The search criteria for candidates. */
interface CandidateQuery {
  /** Distinct terms of the question. */
  readonly terms: readonly string[];
  /** The terms that are whole words of the question. */
  readonly wholeTerms?: readonly string[];
  readonly vector?: ArrayLike<number>;
  /** Periods that the question names. */
  readonly windows?: readonly TimeWindow[];
  readonly filter: SourceFilter;
}

/** Maximum numbers of chunks and turns to consider. */
export interface CandidateLimits {
  /** Chunks found by words, and by vectors. */
  readonly byText: number;
  readonly byVector: number;
  /** Number of best turns whose chunks are all considered. */
  readonly wholeTurns: number;
  /** The best of those turns, whose neighbors also become candidates. */
  readonly turnsWithNeighbors: number;
  /** Maximum chunks of one turn. */
  readonly maxTurnChunks: number;
}

/** The lowest limits at which results hardly change; see docs/internals/search.md for the figures. */
const DEFAULT_CANDIDATE_LIMITS: CandidateLimits = {
  byText: 80,
  byVector: 60,
  wholeTurns: 20,
  turnsWithNeighbors: 20,
  maxTurnChunks: 4,
};

/** A word in at most this many chunks identifies them; maximum number of such words to look up. */
const MAX_RARE = 3;
const MAX_RARE_WORDS = 8;

/** Maximum number of plan items and commits to look around, turns of their work, and chunks of each. */
const MAX_MARKS = 4;
const MARKED_TURNS = 12;
const CHUNKS_OF_MARKED = 2;

/** Least terms of a question that repeats a text, and the share of them that the text has. */
const MIN_ECHO_TERMS = 2;
const MIN_ECHO = 0.8;
/** Maximum number of repeated texts to look after, turns after each kind of them, and chunks of each turn. */
const MAX_ECHOES = 4;
const REQUEST_TURNS = 80;
const ERROR_TURNS = 40;
const CHUNKS_OF_ECHOED = 4;

/** Possible answers to a question, and the facts that ranking needs. */
export interface CandidateSet {
  readonly turns: readonly TurnCandidate[];
  readonly files: readonly FileCandidate[];
  readonly statistics: Statistics;
  readonly chunks: ReadonlyMap<number, StoredChunk>;
  readonly sources: ReadonlyMap<number, SourceRecord>;
  readonly byText: readonly ScoredChunk[];
  readonly byVector: readonly ScoredChunk[];
  /** The chunks of each question word that occurs in hardly any chunk. */
  readonly rare: readonly (readonly number[])[];
}

interface CandidateDeps {
  readonly store: MemoryStore;
  readonly text: TextIndex;
  readonly vectors: VectorIndex | undefined;
}

/**
 * Collects the possible answers to a question: chunks with its words, chunks close to its meaning, and the turns around
 * the best ones.
 */
export async function findCandidates(
  { store, text, vectors }: CandidateDeps,
  query: CandidateQuery,
  limits: CandidateLimits = DEFAULT_CANDIDATE_LIMITS,
): Promise<CandidateSet> {
  const totals = await store.totals();
  const matches = await text.search(query.terms, query.filter, limits.byText, totals.chunks);
  const nearest =
    vectors && query.vector
      ? await vectors.search(query.vector, (chunk) => text.sourceOf(chunk), query.filter, limits.byVector)
      : [];
  const rare = await findRareChunks(text, query, matches.frequencies, totals.chunks);
  const direct = await findDirectChunks({ store, text, vectors }, query);
  const numbers = [...new Set([...rare.flat(), ...interleave(matches.chunks, nearest), ...direct])];
  const found = await store.chunks(numbers);
  const chunks = new Map(found.map((chunk) => [chunk.number, chunk]));
  const sources = await readSources(store, found);
  await addTurns(store, found, sources, chunks, limits);
  await addMarkedWork(store, found, query.terms, chunks);
  await addEchoedWork(store, found, query.terms, chunks);
  const similarityOf = computeSimilarities(query, vectors, [...chunks.keys()], nearest);
  const groups = Map.groupBy([...chunks.values()], ({ source, turn }) => `${source} ${turn}`);
  const turns: TurnCandidate[] = [];
  const files: FileCandidate[] = [];
  for (const members of groups.values()) {
    const first = members[0] as StoredChunk;
    const source = sources.get(first.source);
    if (!source) continue;
    const own = members
      .sort((left, right) => left.number - right.number)
      .map(({ number, terms, traits }): CandidateChunk => {
        return { id: number, terms, traits, similarity: similarityOf.get(number) ?? null };
      });
    if (source.kind === "file") files.push(toFile(source, first, own));
    else turns.push(toTurn(first, own));
  }
  return {
    turns,
    files,
    chunks,
    sources,
    byText: matches.chunks,
    byVector: nearest,
    rare,
    statistics: {
      chunks: totals.chunks,
      averageChunkLength: totals.terms / Math.max(1, totals.chunks),
      averageLength: totals.terms / Math.max(1, totals.turns),
      sessions: totals.sources,
      averageSessionLength: totals.terms / Math.max(1, totals.sources),
      frequencyOf: (term) => matches.frequencies.get(term) ?? 0,
      sessionLengthOf: (session) => sources.get(session)?.terms ?? 0,
    },
  };
}

/**
 * Chunks with a whole word of the question that hardly any other chunk contains, so that long chunks do not hide it.
 */
async function findRareChunks(
  text: TextIndex,
  { wholeTerms = [], filter }: CandidateQuery,
  frequencies: ReadonlyMap<string, number>,
  total: number,
): Promise<readonly (readonly number[])[]> {
  const isRare = (term: string) =>
    (frequencies.get(term) ?? 0) > 0 && (frequencies.get(term) ?? 0) <= MAX_RARE;
  const found: number[][] = [];
  for (const term of wholeTerms.filter(isRare).slice(0, MAX_RARE_WORDS)) {
    const { chunks } = await text.search([term], filter, MAX_RARE, total);
    if (chunks.length > 0) found.push(chunks.map(({ chunk }) => chunk));
  }
  return found;
}

/** Alternates between both lists, so that the first entries are the best of either kind. */
function interleave(left: readonly ScoredChunk[], right: readonly ScoredChunk[]): number[] {
  const numbers: number[] = [];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const [a, b] = [left[index], right[index]];
    if (a) numbers.push(a.chunk);
    if (b) numbers.push(b.chunk);
  }
  return numbers;
}

async function readSources(
  store: MemoryStore,
  chunks: readonly StoredChunk[],
): Promise<Map<number, SourceRecord>> {
  const numbers = [...new Set(chunks.map(({ source }) => source))];
  return new Map((await store.sourcesByNumber(numbers)).map((source) => [source.number, source]));
}

/** Adds the other chunks of the best turns, of their neighbors, and of the best files. */
async function addTurns(
  store: MemoryStore,
  found: readonly StoredChunk[],
  sources: ReadonlyMap<number, SourceRecord>,
  chunks: Map<number, StoredChunk>,
  { wholeTurns: whole, turnsWithNeighbors: withNeighbours, maxTurnChunks: chunksOfTurn }: CandidateLimits,
): Promise<void> {
  const seen = new Set<string>();
  const wanted: { number: number; reach: number }[] = [];
  for (const { number, source, turn } of found) {
    if (wanted.length >= whole) break;
    const isFile = sources.get(source)?.kind === "file";
    if (!isFile && seen.has(`${source} ${turn}`)) continue;
    seen.add(`${source} ${turn}`);
    wanted.push({ number, reach: !isFile && wanted.length < withNeighbours ? 1 : 0 });
  }
  for (const chunk of await store.around(wanted, chunksOfTurn)) chunks.set(chunk.number, chunk);
}

/** Adds the work after an item of a plan that is like the question, and before such a commit. */
async function addMarkedWork(
  store: MemoryStore,
  found: readonly StoredChunk[],
  terms: readonly string[],
  chunks: Map<number, StoredChunk>,
): Promise<void> {
  const asked = new Set(terms);
  const ranges = found
    .filter(({ traits }) => (traits & (EVIDENCE.active | EVIDENCE.commit)) !== 0)
    .map((chunk) => ({ chunk, shared: countShared(asked, chunk.terms) }))
    .filter(({ shared }) => 2 * shared > asked.size)
    .sort((left, right) => right.shared - left.shared)
    .slice(0, MAX_MARKS)
    .map(({ chunk: { source, turn, traits } }): TurnRange => {
      const isCommit = (traits & EVIDENCE.commit) !== 0;
      const [from, to] = isCommit ? [turn - MARKED_TURNS, turn - 1] : [turn + 1, turn + MARKED_TURNS];
      return { source, from, to };
    });
  for (const chunk of await store.turns(ranges, CHUNKS_OF_MARKED)) chunks.set(chunk.number, chunk);
}

/**
 * Adds the edits after a person's request, or after output, that the question repeats. They often share no word
 * with it. A request's edits end at the next one.
 */
async function addEchoedWork(
  store: MemoryStore,
  found: readonly StoredChunk[],
  terms: readonly string[],
  chunks: Map<number, StoredChunk>,
): Promise<void> {
  const asked = new Set(terms);
  if (asked.size < MIN_ECHO_TERMS) return;
  const turns = Map.groupBy(
    found.filter(({ author }) => author === "user" || author === "tool"),
    ({ source, turn }) => `${source} ${turn}`,
  );
  const echoes = [...turns.values()]
    .map((own) => ({
      chunk: own[0] as StoredChunk,
      shared: countShared(
        asked,
        own.flatMap((one) => one.terms),
      ),
    }))
    .filter(({ shared }) => shared >= MIN_ECHO * asked.size)
    .sort((left, right) => right.shared - left.shared)
    .slice(0, MAX_ECHOES);
  for (const { chunk } of echoes) {
    const { source, turn, author } = chunk;
    const reach = author === "user" ? REQUEST_TURNS : ERROR_TURNS;
    const range = { source, from: turn + 1, to: turn + reach, marks: EVIDENCE.edit };
    const after = await store.turns([range], CHUNKS_OF_ECHOED);
    const isRequest = (one: StoredChunk) => author === "user" && one.author === "user";
    const end = after.filter(isRequest).reduce((least, one) => Math.min(least, one.turn), turn + reach + 1);
    for (const one of after)
      if (one.turn < end && (one.traits & EVIDENCE.edit) !== 0) chunks.set(one.number, one);
    chunks.set(chunk.number, chunk);
  }
}

function countShared(asked: ReadonlySet<string>, terms: readonly string[]): number {
  return new Set(terms.filter((term) => asked.has(term))).size;
}

/** Vectors of large stores are not all in memory, so the results of the search fill in where they are not. */
function computeSimilarities(
  { vector }: CandidateQuery,
  vectors: VectorIndex | undefined,
  numbers: readonly number[],
  nearest: readonly ScoredChunk[],
): ReadonlyMap<number, number | null> {
  if (!vectors || !vector) return new Map();
  const values = vectors.similarities(vector, numbers);
  const searched = new Map(nearest.map(({ chunk, score }) => [chunk, score]));
  return new Map(numbers.map((number, index) => [number, values[index] ?? searched.get(number) ?? null]));
}

function toTurn(first: StoredChunk, chunks: readonly CandidateChunk[]): TurnCandidate {
  return {
    id: first.number,
    session: first.source,
    position: first.turn,
    author: first.author,
    speaker: first.speaker,
    atMs: first.at,
    length: first.turnLength,
    chunks,
  };
}

/** A file as a candidate, from its first chunk and the chunks to compare. */
export function toFile(
  source: SourceRecord,
  first: StoredChunk,
  chunks: readonly CandidateChunk[],
): FileCandidate {
  return {
    id: first.number,
    path: source.name,
    length: first.turnLength,
    definitions: source.definitions ?? [],
    chunks,
  };
}

/** Number of the newest rules and preferences to compare with the question, and of those that become candidates. */
const MAX_STANDING = 512;
const STANDING_CHUNKS = 12;
/** Maximum number of chunks in a period; a longer period does not tell them apart. */
const MAX_IN_PERIOD = 2_000;
const PERIOD_CHUNKS = 20;

interface DirectDeps {
  readonly store: Pick<MemoryStore, "standing" | "inPeriod">;
  readonly text: Pick<TextIndex, "sourceOf">;
  readonly vectors: Pick<VectorIndex, "similarities"> | undefined;
}

interface DirectQuery {
  readonly vector?: ArrayLike<number>;
  readonly windows?: readonly TimeWindow[];
  readonly filter: SourceFilter;
}

/**
 * Chunks that become candidates without a word of the question: rules and preferences that users stated, and content
 * of the periods that the question names. The ones closest to the question are chosen; without vectors, the newest.
 */
export async function findDirectChunks(deps: DirectDeps, query: DirectQuery): Promise<readonly number[]> {
  const { store, text } = deps;
  const { filter } = query;
  const isOwn = (number: number) => !filter || filter[text.sourceOf(number)] === 1;
  const standing = await store.standing(MAX_STANDING);
  const chosen = pickClosest(deps, query, standing.filter(isOwn), STANDING_CHUNKS);
  for (const { fromMs, toMs } of query.windows ?? []) {
    const inside = await store.inPeriod(Math.floor(fromMs), Math.ceil(toMs), MAX_IN_PERIOD + 1);
    if (inside.length > MAX_IN_PERIOD) continue;
    chosen.push(...pickClosest(deps, query, inside.filter(isOwn), PERIOD_CHUNKS));
  }
  return chosen;
}

function pickClosest(
  { vectors }: DirectDeps,
  { vector }: DirectQuery,
  own: readonly number[],
  count: number,
): number[] {
  if (!vectors || !vector || own.length <= count) return own.slice(0, count);
  const similarities = vectors.similarities(vector, own);
  return own
    .map((number, index) => ({ number, similarity: similarities[index] ?? 0 }))
    .sort((left, right) => right.similarity - left.similarity)
    .slice(0, count)
    .map(({ number }) => number);
}
