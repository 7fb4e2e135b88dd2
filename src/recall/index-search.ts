import type { Log } from "../log/log.ts";
import type { MemoryStore, SourceRecord, StoredChunk } from "../log/store/memory-store.ts";
import { throwIfAborted } from "../model/errors.ts";
import type { Place } from "../model/place.ts";
import { foldText } from "../model/sentences.ts";
import type { ChunkTexts } from "./index/chunk-texts.ts";
import type { ChunkVectors, VectorWait } from "./index/chunk-vectors.ts";
import { type CandidateLimits, type CandidateSet, findCandidates, toFile } from "./index/find-candidates.ts";
import { TextIndex } from "./index/text-index.ts";
import { type RankedChunk, rankAll } from "./make-hits.ts";
import { type MemoryScope, resolveScope } from "./memory-scope.ts";
import type { FileCandidate } from "./rank/file-features.ts";
import type { FileTouch } from "./rank/file-touches.ts";
import { withoutSpeakers } from "./rank/query.ts";
import { parseTimeWindows } from "./rank/time-window.ts";
import type { RankContext, TermVectors, TurnCandidate } from "./rank/turn-candidate.ts";
import { listWholeTerms } from "./rare-words.ts";
import { RecentTouches } from "./recent-touches.ts";
import type { SourceFilter } from "./scored-chunk.ts";
import { SourceNumbers } from "./source-numbers.ts";
import { analyzeText } from "./text/analyze-text.ts";

/** Share of named turns from which on people talk with each other. */
const MIN_NAMED_SHARE = 0.5;

const MAX_SPEAKERS = 64;

const MAX_QUESTION_CHARACTERS = 20_000;

interface IndexSearchDeps {
  readonly log: Log;
  readonly texts: ChunkTexts;
  readonly vectors: ChunkVectors;
  /** Vectors of single words, if the packaged embedder is available. */
  readonly termVectors: (() => TermVectors | null) | undefined;
}

interface SearchOptions extends VectorWait {
  readonly scope?: MemoryScope;
  readonly limits?: CandidateLimits;
  /** Entries of its session from here on are excluded. */
  readonly before?: Place;
}

/** Ranked content, and the facts it was ranked by. */
export interface SearchResult {
  /** Cut to the length that was searched for. */
  readonly question: string;
  readonly found: CandidateSet;
  /** Best first. */
  readonly ranked: readonly RankedChunk[];
  readonly terms: readonly string[];
  /** The terms that are whole words of the question. */
  readonly wholeTerms: readonly string[];
  readonly context: RankContext;
  /** Why vectors were not used, if they were not. */
  readonly reason: string | undefined;
}

/** Ranks indexed content by a question, with words and vectors. */
export class IndexSearch {
  readonly #deps: IndexSearchDeps;
  readonly #text: TextIndex;
  readonly #touches: RecentTouches;
  readonly #numbers: { readonly sessionNumbers: SourceNumbers; readonly fileNumbers: SourceNumbers };

  constructor(deps: IndexSearchDeps) {
    const { memory } = deps.log.store;
    this.#deps = deps;
    this.#touches = new RecentTouches(deps.log);
    this.#text = new TextIndex(memory);
    this.#numbers = {
      sessionNumbers: new SourceNumbers(memory, "session"),
      fileNumbers: new SourceNumbers(memory, "file"),
    };
  }

  async search(question: string, options: SearchOptions): Promise<SearchResult> {
    const asked = question.slice(0, MAX_QUESTION_CHARACTERS);
    const { log, texts, vectors, termVectors } = this.#deps;
    const { store } = log;
    const filter = await this.resolveScope(options.scope);
    const state = await this.#text.refresh();
    await texts.refresh(state.stamp);
    const speakers = await store.memory.speakers(MAX_SPEAKERS);
    const { vector, reason } = await vectors.embedQuestion(withoutSpeakers(asked, speakers), options);
    throwIfAborted(options.signal);
    const terms = listSearchTerms(asked);
    const wholeTerms = listWholeTerms(asked);
    const nowMs = log.clock.now();
    const windows = parseTimeWindows(asked, nowMs);
    const all = await findCandidates(
      { store: store.memory, text: this.#text, vectors: vectors.loaded },
      { terms, wholeTerms, windows, filter, ...(vector && { vector }) },
      options.limits,
    );
    const within = options.before ? filterBefore(all, options.before) : all;
    const chosen = { ...within, turns: chooseSpeakers(asked, within.turns) };
    const touches = chosen.files.length > 0 ? await this.#touches.list(filter, state.stamp) : [];
    const found = touches.length > 0 ? await addTouchedFiles(store.memory, chosen, touches, filter) : chosen;
    const context = {
      statistics: found.statistics,
      nowMs,
      speakers: [...new Set(found.turns.flatMap(({ speaker }) => speaker ?? []))],
      vectors: termVectors?.() ?? null,
    };
    return {
      question: asked,
      found,
      ranked: rankAll(asked, found, { ...context, touches }),
      terms,
      wholeTerms,
      context,
      reason,
    };
  }

  /** Resolves a scope to its sources; undefined for all. */
  async resolveScope(scope: MemoryScope | undefined): Promise<SourceFilter> {
    return resolveScope({ store: this.#deps.log.store, ...this.#numbers }, scope);
  }

  /** Approximate bytes of cached index data. */
  get cachedBytes(): number {
    return this.#text.sizeBytes + (this.#deps.vectors.loaded?.sizeBytes ?? 0);
  }

  /** Releases cached index data; the next search reads it again. */
  dropCaches(): void {
    this.#text.drop();
    this.#numbers.sessionNumbers.clear();
    this.#numbers.fileNumbers.clear();
    this.#deps.vectors.unload();
  }
}

/** The candidates without entries of a session from a place on. */
function filterBefore(found: CandidateSet, { session, seq }: Place): CandidateSet {
  const isBefore = (id: number) => {
    const chunk = found.chunks.get(id);
    return !chunk || chunk.seq < seq || found.sources.get(chunk.source)?.name !== session;
  };
  return { ...found, turns: found.turns.filter(({ id }) => isBefore(id)) };
}

/**
 * Keeps the speakers of candidates where they count: if people talk with each other, or if the question names one. In
 * the sessions of a single named user, or a few named turns among others, a name says no more than the role.
 */
function chooseSpeakers(question: string, turns: readonly TurnCandidate[]): readonly TurnCandidate[] {
  const speakers = new Set(turns.flatMap(({ speaker }) => speaker ?? []));
  if (speakers.size === 0) return turns;
  const words = new Set(foldText(question).split(/[^\p{L}\p{N}]+/u));
  const isNamed = [...speakers].some((name) =>
    foldText(name)
      .split(/[^\p{L}\p{N}]+/u)
      .every((word) => words.has(word)),
  );
  const spoken = turns.filter(({ author }) => author === "user" || author === "assistant");
  const named = spoken.filter(({ speaker }) => speaker !== null).length;
  const isBetweenPeople = speakers.size > 1 && named >= MIN_NAMED_SHARE * spoken.length;
  return isNamed || isBetweenPeople ? turns : turns.map((turn) => ({ ...turn, speaker: null }));
}

/** Maximum number of terms in a search; a pasted document has more, which would add nothing. */
const MAX_TERMS = 96;

/** Distinct terms; if there are too many, only the most frequent ones. */
export function listSearchTerms(question: string): string[] {
  const counts = new Map<string, number>();
  for (const term of analyzeText(question)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const terms = [...counts.keys()];
  if (terms.length <= MAX_TERMS) return terms;
  return terms.sort((left, right) => (counts.get(right) ?? 0) - (counts.get(left) ?? 0)).slice(0, MAX_TERMS);
}

/** Files to add, paths to look at, folders to look in, and chunks to read of each file. */
const MAX_FILES = 24;
const MAX_PATHS = 60;
const MAX_ROOTS = 4;
const MAX_CHUNKS = 40;
const MAX_STEPS = 12;

/**
 * Adds the files that sessions touched last, whole, to the candidates: a request often continues the work on them
 * without a word of theirs.
 */
async function addTouchedFiles(
  store: MemoryStore,
  found: CandidateSet,
  touches: readonly FileTouch[],
  filter: SourceFilter,
): Promise<CandidateSet> {
  const sources = new Map(found.sources);
  const chunks = new Map(found.chunks);
  const known = new Set(found.files.map(({ id }) => chunks.get(id)?.source));
  const roots = [
    ...new Set([...sources.values()].flatMap(({ kind, root }) => (kind === "file" ? (root ?? []) : []))),
  ];
  const added: SourceRecord[] = [];
  for (const path of listRecentPaths(touches)) {
    if (added.length >= MAX_FILES) break;
    const source = await findFile(store, path, roots.slice(0, MAX_ROOTS));
    if (!source || known.has(source.number) || (filter && filter[source.number] !== 1)) continue;
    known.add(source.number);
    added.push(source);
  }
  if (added.length === 0) return found;
  const ranges = added.map(({ number }) => ({ source: number, from: 1, to: 1 }));
  const bySource = Map.groupBy(await store.turns(ranges, MAX_CHUNKS), ({ source }) => source);
  const files: FileCandidate[] = [];
  for (const source of added) {
    const own = bySource.get(source.number);
    if (!own) continue;
    sources.set(source.number, source);
    for (const chunk of own) chunks.set(chunk.number, chunk);
    files.push(toWholeFile(source, own));
  }
  return { ...found, files: [...found.files, ...files], sources, chunks };
}

function listRecentPaths(touches: readonly FileTouch[]): string[] {
  return [...new Set(touches.map(({ path }) => path))].slice(0, MAX_PATHS);
}

/** The indexed file of a path, or the one with its end, for a path in another checkout. */
async function findFile(
  store: MemoryStore,
  path: string,
  roots: readonly string[],
): Promise<SourceRecord | undefined> {
  const isRooted = path.startsWith("/");
  const same = isRooted ? await store.source({ kind: "file", name: path }) : undefined;
  if (same || roots.some((root) => path.startsWith(`${root}/`))) return same;
  const steps = path.split("/");
  for (let from = isRooted ? 1 : 0; from < Math.min(steps.length, MAX_STEPS) - 1 || from === 0; from++) {
    const end = steps.slice(from).join("/");
    for (const root of roots) {
      const source = await store.source({ kind: "file", name: `${root}/${end}` });
      if (source) return source;
    }
    if (!isRooted) break;
  }
  return undefined;
}

function toWholeFile(source: SourceRecord, chunks: readonly StoredChunk[]): FileCandidate {
  const own = chunks.map(({ number, terms, traits }) => ({ id: number, terms, traits, similarity: null }));
  return toFile(source, chunks[0] as StoredChunk, own);
}
