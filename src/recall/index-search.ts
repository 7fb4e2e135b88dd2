import type { Log } from "../log/log.ts";
import { throwIfAborted } from "../model/errors.ts";
import type { Place } from "../model/place.ts";
import { addTouchedFiles } from "./add-touched-files.ts";
import type { ChunkTexts } from "./index/chunk-texts.ts";
import type { ChunkVectors, VectorWait } from "./index/chunk-vectors.ts";
import { type CandidateLimits, type CandidateSet, findCandidates } from "./index/find-candidates.ts";
import { TextIndex } from "./index/text-index.ts";
import { type RankedChunk, rankAll } from "./make-hits.ts";
import { type MemoryScope, resolveScope } from "./memory-scope.ts";
import { withoutSpeakers } from "./rank/query.ts";
import { parseTimeWindows } from "./rank/time-window.ts";
import type { RankContext, TermVectors, TurnCandidate } from "./rank/turn-candidate.ts";
import { listWholeTerms } from "./rare-words.ts";
import { RecentTouches } from "./recent-touches.ts";
import type { SourceFilter } from "./scored-chunk.ts";
import { SourceNumbers } from "./source-numbers.ts";
import { foldText } from "./text/fold-text.ts";
import { listSearchTerms } from "./text/search-terms.ts";

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
