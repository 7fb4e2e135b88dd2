import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import { checkFields, checkKind, checkTexts } from "../model/argument-checks.ts";
import type { Entry, EntryId, SessionId } from "../model/entry.ts";
import { parseEntryId } from "../model/entry.ts";
import { checkWholeNumber, createArgumentError, isLonghaulError, throwIfAborted } from "../model/errors.ts";
import type { Place } from "../model/place.ts";
import type { RelatedContent, RelatedStretch } from "../model/related-content.ts";
import { Census, type Closable, Scope } from "../model/scope.ts";
import type { StoredChunk } from "../store/memory-store.ts";
import type { Embedder } from "./embed/embedder.ts";
import { forgetFiles } from "./files/forget-files.ts";
import { type IndexedFiles, type IndexFilesOptions, indexFiles } from "./files/index-files.ts";
import { type WatchFilesOptions, watchFiles } from "./files/watch-files.ts";
import type { Hit, Recall } from "./hit.ts";
import { ChunkTexts } from "./index/chunk-texts.ts";
import { type CandidateLimits, type CandidateSet, findCandidates } from "./index/find-candidates.ts";
import { type FollowOptions, LogFollower } from "./index/log-follower.ts";
import { TextIndex } from "./index/text-index.ts";
import { VectorFiller } from "./index/vector-filler.ts";
import {
  computeCertainty,
  computeSpecificity,
  estimateCertainty,
  type RankedChunk,
  rankAll,
  toHit,
} from "./make-hits.ts";
import { type MemoryScope, resolveScope } from "./memory-scope.ts";
import { withoutSpeakers } from "./rank/query.ts";
import type { TermVectors } from "./rank/turn-candidate.ts";
import { liftRareWords, listWholeTerms } from "./rare-words.ts";
import { readAround } from "./read-around.ts";
import { analyzeText } from "./text/analyze-text.ts";
import { VectorIndex } from "./vectors/vector-index.ts";

/** Dependencies and settings of memory. */
export interface MemoryDeps {
  readonly log: Log;
  /** Undefined to search by words alone. */
  readonly embedder: Embedder | undefined;
  /** Vectors of single words, if the packaged embedder is available. */
  readonly termVectors?: () => TermVectors | null;
  /** Maximum bytes of vectors held in memory, default 256 MB; others are read for each recall. */
  readonly maxVectorBytes?: number;
  /** Called when something is degraded, such as an embedder that does not respond. */
  readonly onWarning?: (warning: string) => void;
  /** Counts resources that memory opens and closes; default: a census of its own. */
  readonly census?: Census;
}

/** Options of a recall. */
export interface RecallOptions {
  readonly scope?: MemoryScope;
  /** Maximum number of hits; default 10. */
  readonly k?: number;
  /** Minimum score of a hit, relative to the best one; default 0. */
  readonly threshold?: number;
  readonly signal?: AbortSignal;
  /** Maximum time for indexing new entries before the search, default 10 s; the rest is indexed in the background. */
  readonly waitMs?: number;
}

/** Options for expanding a hit. */
interface ExpandOptions {
  /** Messages before and after the entry; default 2. */
  readonly around?: number;
}

const WAIT_MS = 10_000;
const VECTOR_BYTES = 256 * 1024 * 1024;
/** Maximum number of terms in a search; a pasted document has more, which would add nothing. */
const MAX_TERMS = 96;
/** Number of chunks without a vector that a recall embeds itself, before it searches. */
const MAX_EMBEDDED_FIRST = 64;
/** The same for a search within one conversation. */
const MAX_EMBEDDED_OF_SESSION = 8_192;
/** A single conversation is small enough for a closer search than all sessions together. */
const SESSION_LIMITS: CandidateLimits = {
  byText: 120,
  byVector: 90,
  wholeTurns: 30,
  turnsWithNeighbors: 30,
  maxTurnChunks: 4,
};
const MAX_SPEAKERS = 64;
const MAX_QUESTION_CHARACTERS = 20_000;
/** Recall is sure from this probability on; see docs/internals/ranking.md for its cost. */
const MIN_CERTAINTY = 0.4;
const INDEX_FIELDS = { maxFileBytes: "number?", signal: "signal?", onProgress: "function?" } as const;

/** Recall over all sessions and indexed files. */
export class Memory implements Closable {
  readonly #deps: MemoryDeps;
  readonly #follower: LogFollower;
  readonly #text: TextIndex;
  readonly #texts: ChunkTexts;
  readonly #filler: VectorFiller | undefined;
  readonly #closing = new AbortController();
  /** Owns the watchers. */
  readonly #scope: Scope;
  #vectors: VectorIndex | undefined;
  #background: Promise<void> | undefined;

  constructor(parts: MemoryDeps) {
    this.#deps = parts;
    this.#scope = new Scope("memory", parts.census ?? new Census());
    const { memory } = parts.log.store;
    this.#follower = new LogFollower(parts.log);
    this.#text = new TextIndex(memory);
    this.#texts = new ChunkTexts(parts.log);
    this.#filler = parts.embedder && new VectorFiller(memory, this.#texts, parts.embedder);
  }

  /**
   * Finds the messages and file contents that answer a question best. Searches everything committed before the call, as
   * far as it can be indexed in time; `unindexed` counts the rest.
   */
  async recall(question: string, options: RecallOptions = {}): Promise<Recall> {
    checkFields("options", options, { threshold: "number?", signal: "signal?", scope: "object?" });
    const k = checkWholeNumber("k", options.k ?? 10, 1, 1_000);
    if (typeof question !== "string") throw createArgumentError("question", question, "a text");
    const waitMs = checkWholeNumber("waitMs", options.waitMs ?? WAIT_MS, 0);
    const unindexed = await this.#follower.catchUpWithin(waitMs, options.signal);
    const { found, ranked: byScore, terms, whole, context, reason } = await this.#search(question, options);
    const placeOf = ({ source, turn }: StoredChunk) => `${source} ${turn}`;
    const placesOf = (numbers: readonly number[]) =>
      new Set(numbers.flatMap((number) => found.chunks.get(number) ?? []).map(placeOf));
    const ranked = liftRareWords(byScore, found.rare.map(placesOf), ({ chunk }) => placeOf(chunk), {
      isOnlyWord: whole.length === 1,
      k,
    });
    const similarityOf = new Map(
      [...found.turns, ...found.files].flatMap(({ chunks }) => chunks.map((own) => [own.id, own.similarity])),
    );
    const hits: Hit[] = [];
    const shown: RankedChunk[] = [];
    for (const one of ranked) {
      if (hits.length === k || one.score < (options.threshold ?? 0) * (ranked[0]?.score ?? 0)) break;
      const hit = await toHit(one, this.#texts, similarityOf.get(one.chunk.number) ?? null);
      if (!hit) continue;
      hits.push(hit);
      shown.push(one);
    }
    const similarity = hits[0]?.similarity ?? null;
    const certainty = estimateCertainty(terms, shown.slice(0, 3), similarity, context);
    return {
      hits,
      certainty,
      isSure: hits.length > 0 && certainty >= MIN_CERTAINTY,
      ...(reason !== undefined && { withoutVectors: reason }),
      ...(unindexed > 0 && { unindexed }),
    };
  }

  /**
   * Finds stretches of some sessions that relate to a question, best first, for a window that has lost them. Only these
   * sessions are indexed first, regardless of other unindexed entries.
   */
  async related(
    question: string,
    sessions: readonly SessionId[],
    options: { readonly before?: Place; readonly signal?: AbortSignal } = {},
  ): Promise<RelatedContent> {
    const { before, signal } = checkFields("options", options, { before: "object?", signal: "signal?" });
    if (before) checkFields("before", before, { session: "name", seq: "number" });
    checkKind("question", question, "text");
    checkTexts("sessions", sessions);
    const stop = signal ? { signal } : {};
    for (const session of sessions) await this.#follower.catchUpSession(session, stop);
    const { found, ranked, terms, context } = await this.#search(question, {
      scope: { sessions },
      limits: SESSION_LIMITS,
      embeddedFirst: MAX_EMBEDDED_OF_SESSION,
      ...(before && { before }),
      ...stop,
    });
    const stretches: RelatedStretch[] = [];
    for (const { chunk, score } of ranked) {
      const source = await this.#texts.findSource(chunk.source);
      if (source?.kind !== "session" || chunk.author === "none") continue;
      const read = (maxCharacters: number) => readAround(this.#texts, chunk, maxCharacters);
      stretches.push({
        session: source.name,
        seq: chunk.seq,
        author: chunk.author,
        at: chunk.at,
        score,
        read,
      });
    }
    return {
      stretches,
      certainty: computeCertainty(terms, ranked.slice(0, 3), found, context),
      specificity: computeSpecificity(terms, context),
    };
  }

  /** Ranks indexed content by a question. */
  async #search(
    question: string,
    options: {
      readonly scope?: MemoryScope;
      readonly limits?: CandidateLimits;
      readonly embeddedFirst?: number;
      /** Entries of its session from here on are excluded. */
      readonly before?: Place;
      readonly signal?: AbortSignal;
    },
  ) {
    const asked = question.slice(0, MAX_QUESTION_CHARACTERS);
    const { log, termVectors } = this.#deps;
    const { store } = log;
    const filter = await resolveScope(store, options.scope);
    const state = await this.#text.refresh();
    await this.#texts.refresh(state.stamp);
    const speakers = await store.memory.speakers(MAX_SPEAKERS);
    const { vector, reason } = await this.#embedQuestion(
      withoutSpeakers(asked, speakers),
      options.embeddedFirst ?? MAX_EMBEDDED_FIRST,
      options.signal,
    );
    throwIfAborted(options.signal);
    const terms = listTerms(asked);
    const whole = listWholeTerms(asked);
    const all = await findCandidates(
      { store: store.memory, text: this.#text, vectors: this.#vectors },
      { terms, wholeTerms: whole, filter, ...(vector && { vector }) },
      options.limits,
    );
    const found = options.before ? filterBefore(all, options.before) : all;
    const context = {
      statistics: found.statistics,
      nowMs: log.clock.now(),
      speakers: [...new Set(found.turns.flatMap(({ speaker }) => speaker ?? []))],
      vectors: termVectors?.() ?? null,
    };
    return { found, ranked: rankAll(asked, found, context), terms, whole, context, reason };
  }

  /** The entries around a hit of a session, in order, with the hit's own entry in the middle. */
  async expand(entry: EntryId, options: ExpandOptions = {}): Promise<readonly Entry[]> {
    const { around = 2 } = checkFields("options", options);
    const { session, seq } = parseEntryId(entry);
    const { entries } = this.#deps.log.store;
    const limit = checkWholeNumber("around", around, 0, 100);
    const kinds = ["message"] as const;
    const before = await entries.read(session, { from: 1, to: seq - 1, limit, order: "descending", kinds });
    const own = await entries.get(session, seq);
    const to = Number.POSITIVE_INFINITY;
    const after = await entries.read(session, { from: seq + 1, to, limit, order: "ascending", kinds });
    const stored = [...[...before].reverse(), ...(own ? [own] : []), ...after];
    return stored.map((one) => toEntry(session, one));
  }

  /** Indexes everything committed. A recall does so by itself, but would have to wait after a large import. */
  async catchUp(options: FollowOptions = {}): Promise<void> {
    checkFields("options", options, { signal: "signal?" });
    await this.#follower.catchUp(options);
    await this.#filler?.fill({ ...(options.signal && { signal: options.signal }) });
    await this.#dropOldVectors();
  }

  /** Indexes files and folders; missing files are removed from the index. */
  async indexFiles(paths: readonly string[], options: IndexFilesOptions = {}): Promise<IndexedFiles> {
    checkFields("options", options, INDEX_FIELDS);
    const indexed = await indexFiles(this.#deps.log.store.memory, paths, options);
    await this.#filler?.fill({ ...(options.signal && { signal: options.signal }) });
    return indexed;
  }

  /** Indexes files and folders now and after every change, until it or the kernel is closed. */
  watchFiles(paths: readonly string[], options: WatchFilesOptions = {}): Closable {
    this.#scope.assertOpen();
    checkFields("options", options, {
      ...INDEX_FIELDS,
      quietMs: "number?",
      onIndexed: "function?",
      onError: "function?",
    });
    const watching = watchFiles(this.#deps.log.store.memory, paths, options, this.#scope.census);
    const closable: Closable = {
      close: async () => {
        this.#scope.release(closable);
        await watching.close();
      },
    };
    return this.#scope.own(closable);
  }

  /** Removes files, and all files below folders, from the index and returns their number; the files themselves stay. */
  async forgetFiles(paths: readonly string[]): Promise<number> {
    return forgetFiles(this.#deps.log.store.memory, paths);
  }

  /** Releases cached index data; the next recall reads it again. */
  dropCaches(): void {
    this.#text.drop();
    this.#vectors = undefined;
  }

  /** Idempotent. Interrupts embedding in progress, which continues the next time. */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.#scope.close();
    } finally {
      await this.#follower.close();
      await this.#background;
      await this.#deps.embedder?.close?.();
    }
  }

  /**
   * Embeds the question and loads the vectors to compare it with; on failure returns a reason, and recall uses words
   * only.
   */
  async #embedQuestion(
    question: string,
    embeddedFirst: number,
    signal: AbortSignal | undefined,
  ): Promise<{ vector?: ArrayLike<number>; reason?: string }> {
    const { embedder, log } = this.#deps;
    if (!embedder || !this.#filler) return { reason: "there is no embedder" };
    try {
      const space = await this.#filler.resolveSpace(signal);
      if (!this.#background) {
        const atMost = embeddedFirst;
        const filled = embedder.isInstant
          ? await this.#filler.fill({ maxChunks: atMost, ...(signal && { signal }) })
          : atMost;
        if (filled >= atMost) this.#fillInBackground();
      }
      this.#vectors ??= new VectorIndex(log.store.memory, space, this.#deps.maxVectorBytes ?? VECTOR_BYTES);
      await this.#vectors.refresh();
      const [vector] = await embedder.embed([question], { ...(signal && { signal }) });
      return vector ? { vector } : { reason: `${embedder.id} sent no vector` };
    } catch (error) {
      if (isLonghaulError(error, "ABORTED")) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      this.#deps.onWarning?.(`Recall goes by words alone: ${reason}`);
      return { reason };
    }
  }

  #fillInBackground(): void {
    const filling = this.#filler?.fill({ signal: this.#closing.signal }) ?? Promise.resolve(0);
    this.#background = filling
      .then(() => this.#dropOldVectors())
      .catch((error) => {
        if (!this.#closing.signal.aborted)
          this.#deps.onWarning?.(`Embedding stopped and goes on with the next recall: ${String(error)}`);
      })
      .finally(() => {
        this.#background = undefined;
      });
  }

  /** Once every chunk has a vector of this embedder, those of others are useless. */
  async #dropOldVectors(): Promise<void> {
    if (!this.#filler) return;
    const { embedder } = await this.#filler.resolveSpace();
    await this.#deps.log.store.memory.vectors.dropOthers(embedder);
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

/** Distinct terms; if there are too many, only the most frequent ones. */
function listTerms(question: string): string[] {
  const counts = new Map<string, number>();
  for (const term of analyzeText(question)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const terms = [...counts.keys()];
  if (terms.length <= MAX_TERMS) return terms;
  return terms.sort((left, right) => (counts.get(right) ?? 0) - (counts.get(left) ?? 0)).slice(0, MAX_TERMS);
}
