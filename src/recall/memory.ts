import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import type { StoredChunk } from "../log/store/memory-store.ts";
import { checkFields, checkKind, checkTexts } from "../model/argument-checks.ts";
import type { DroppableCache } from "../model/base/caches.ts";
import {
  checkSessionId,
  type Entry,
  type EntryId,
  formatEntryId,
  type Place,
  parseEntryId,
  type SessionId,
} from "../model/entry.ts";
import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import { Census, type Closable, Lifetime } from "../model/lifetime.ts";
import type { RelatedContent } from "../model/related-content.ts";
import { estimateRecallCertainty } from "./certainty.ts";
import { DepartedEntries } from "./departed-entries.ts";
import type { Embedder } from "./embed/embedder.ts";
import { type IndexedFiles, type IndexFilesOptions, indexFiles } from "./files/index-files.ts";
import { buildPathFilter } from "./files/path-filter.ts";
import { type WatchFilesOptions, watchFiles } from "./files/watch-files.ts";
import { findRelated, type RelatedOptions } from "./find-related.ts";
import type { Recall } from "./hit.ts";
import type { Fix } from "./hit-details.ts";
import { collectHits } from "./hits/collect-hits.ts";
import { createEntryTest, createHitReader } from "./hits/create-hit-reader.ts";
import { addPlaces, describeHits } from "./hits/describe-hits.ts";
import { findFixes, putFixesFirst } from "./hits/find-fixes.ts";
import { ChunkTexts } from "./index/chunk-texts.ts";
import { ChunkVectors } from "./index/chunk-vectors.ts";
import { type FollowOptions, LogFollower } from "./index/log-follower.ts";
import { IndexSearch } from "./index-search.ts";
import {
  type Decision,
  type DecisionOptions,
  listDecisions,
  putNewestDecisionsFirst,
} from "./list-decisions.ts";
import { checkMemoryFilter } from "./memories/memory-trust.ts";
import { RecallableMemories } from "./memories/recallable-memories.ts";
import { findMemoryAgent } from "./memories/stored-memory.ts";
import {
  type IndexSource,
  type MemoryState,
  readIndexSources,
  readMemoryState,
  readUnindexedSessions,
  type SourceQuery,
  type UnindexedPage,
  type UnindexedQuery,
} from "./memory-state.ts";
import type { TermVectors } from "./rank/turn-candidate.ts";
import { liftRareWords } from "./rare-words.ts";
import { checkDetailedHits, checkRecallOptions, type RecallOptions } from "./recall-options.ts";
import { SourceNumbers } from "./source-numbers.ts";

/** Options of reading the newest messages of a session. */
interface ReadNewestOptions {
  readonly limit: number;
  /** Nothing is read if the session's last entry is older than this time. */
  readonly since?: number;
}

/** Options of a catch-up. */
interface CatchUpOptions extends FollowOptions {
  /** Called while vectors are added, with the number added and an estimate of all that were missing. */
  readonly onEmbedded?: (embedded: number, total: number) => void;
}

/** Dependencies and settings of memory. */
export interface MemoryDeps {
  readonly log: Log;
  /** Undefined to search only by words. */
  readonly embedder: Embedder | undefined;
  /** Vectors of single words, if the packaged embedder is available. */
  readonly termVectors?: () => TermVectors | null;
  /** The cache of these vectors. */
  readonly termVectorCache?: DroppableCache;
  /** Maximum bytes of vectors held in memory, default 256 MB; others are read for each recall. */
  readonly maxVectorBytes?: number;
  /** Called when something is degraded, such as an embedder that does not respond. */
  readonly onWarning?: (warning: string) => void;
  /** Counts resources that memory opens and closes; default: its own census. */
  readonly census?: Census;
}

/** Options of `findFix`. */
type FixOptions = Pick<RecallOptions, "scope" | "waitMs" | "signal">;

const WAIT_MS = 10_000;

/** Recall is sure from this probability on; see docs/internals/search.md for its cost. */
const MIN_CERTAINTY = 0.4;

/** The line of an error in the log, and work after which it was gone, are worth showing whatever else was found. */
const FIX_CERTAINTY = 0.65;

const MAX_DECISIONS = 10_000;

const DEPTH_WARNING =
  'Recall has no depth "careful" any more: it was no better than the only depth there is now. Leave the option out.';

const INDEX_FIELDS = { maxFileBytes: "number?", signal: "signal?", onProgress: "function?" } as const;

/** Recall over all sessions and indexed files. */
export class Memory implements Closable {
  readonly #deps: MemoryDeps;
  readonly #follower: LogFollower;
  readonly #texts: ChunkTexts;
  readonly #vectors: ChunkVectors;
  readonly #search: IndexSearch;
  readonly #departed: DepartedEntries;
  #hasToldDepth = false;
  /** Owns the watchers. */
  readonly #lifetime: Lifetime;

  constructor(parts: MemoryDeps) {
    const { log, embedder, termVectors, maxVectorBytes, onWarning, census = new Census() } = parts;
    this.#deps = parts;
    this.#lifetime = new Lifetime("memory", census);
    const store = log.store.memory;
    const texts = new ChunkTexts(log);
    this.#follower = new LogFollower(log);
    this.#texts = texts;
    this.#vectors = new ChunkVectors({
      store,
      texts,
      embedder,
      maxVectorBytes,
      onWarning,
      getShare: () => log.caches.share,
    });
    this.#search = new IndexSearch({ log, texts, vectors: this.#vectors, termVectors });
    this.#departed = new DepartedEntries(log);
    const forgetCache = log.caches.add("recall", {
      sizeBytes: () => this.cachedBytes,
      drop: () => this.dropCaches(),
    });
    this.#lifetime.own({ close: forgetCache });
    if (parts.termVectorCache)
      this.#lifetime.own({ close: log.caches.add("word vectors", parts.termVectorCache) });
  }

  /**
   * Finds the messages and file contents that answer a question best. Searches everything committed before the call, as
   * far as it can be indexed in time; `unindexed` counts the rest.
   */
  async recall(question: string, options: RecallOptions = {}): Promise<Recall> {
    const startedMs = performance.now();
    const recalled = await this.#recall(question, options);
    this.#deps.log.meter.addSearch(performance.now() - startedMs);
    return recalled;
  }

  async #recall(question: string, options: RecallOptions): Promise<Recall> {
    checkRecallOptions(options);
    const memories = new RecallableMemories(
      this.#deps.log,
      checkMemoryFilter("memories", options.memories ?? {}),
    );
    const departed = this.#departed.look();
    const isLeftOut = options.activeLine ? departed.isOffLine : departed.isTakenBack;
    const k = checkWholeNumber("k", options.k ?? 10, 1, 1_000);
    if (typeof question !== "string") throw createArgumentError("question", question, "a text");
    const waitMs = checkWholeNumber("waitMs", options.waitMs ?? WAIT_MS, 0);
    const deadline = performance.now() + waitMs;
    const detailed = checkDetailedHits(options.details);
    const unindexed = await this.#follower.catchUpWithin(waitMs, options.signal);
    const leftMs = Math.max(0, deadline - performance.now());
    const searched = await this.#search.search(question, { ...options, waitMs: leftMs });
    const { found, ranked: byScore, wholeTerms, context, reason } = searched;
    const placeOf = ({ source, turn }: StoredChunk) => `${source} ${turn}`;
    const placesOf = (numbers: readonly number[]) =>
      new Set(numbers.flatMap((number) => found.chunks.get(number) ?? []).map(placeOf));
    const lifted = liftRareWords(byScore, found.rare.map(placesOf), ({ chunk }) => placeOf(chunk), {
      isOnlyWord: wholeTerms.length === 1,
      k,
    });
    const { log, onWarning } = this.#deps;
    if (options.depth === "careful" && !this.#hasToldDepth) onWarning?.(DEPTH_WARNING);
    this.#hasToldDepth ||= options.depth === "careful";
    const isShown = await createEntryTest(log.store, found, options, isLeftOut);
    const fixes = await findFixes({ log, texts: this.#texts, isShown }, question, found);
    const fix = fixes.find(({ hasReturned }) => !hasReturned)?.fix;
    const ranked = await putFixesFirst(log.store.memory, fixes, lifted);
    const readers = { store: log.store, texts: this.#texts, memories, isLeftOut };
    const { hits: collected, chunks } = await collectHits(ranked, {
      readHit: await createHitReader(readers, found, options),
      texts: this.#texts,
      k,
      threshold: options.threshold ?? 0,
    });
    const hits = await addPlaces(log, await putNewestDecisionsFirst(log, question, collected));
    const estimated = estimateRecallCertainty(searched, chunks, hits[0]?.similarity ?? null);
    const certainty = fixes.length > 0 ? Math.max(FIX_CERTAINTY, estimated) : estimated;
    return {
      hits: await describeHits(log, question, { hits, certainty }, context, detailed),
      certainty,
      isSure: hits.length > 0 && certainty >= MIN_CERTAINTY,
      ...(reason !== undefined && { withoutVectors: reason }),
      ...(fix && { fix }),
      ...(unindexed > 0 && { unindexed }),
      ...(unindexed === 0 && found.statistics.chunks === 0 && (await this.#isEmpty()) && { isEmpty: true }),
    };
  }

  /** The best fix of an error; undefined if the error is unknown, or if its program never ran without it again. */
  async findFix(error: string, options: FixOptions = {}): Promise<Fix | undefined> {
    checkKind("error", error, "text");
    const { log } = this.#deps;
    const { waitMs, signal } = checkFields("options", options, {
      scope: "object?",
      waitMs: "number?",
      signal: "signal?",
    });
    await this.#follower.catchUpWithin(checkWholeNumber("waitMs", waitMs ?? WAIT_MS, 0), signal);
    const { found } = await this.#search.search(error, options);
    const isShown = await createEntryTest(log.store, found, options, this.#departed.look().isTakenBack);
    const fixes = await findFixes({ log, texts: this.#texts, isShown }, error, found);
    return fixes.find(({ hasReturned }) => !hasReturned)?.fix;
  }

  /** Lists decisions, newest first, each with the earlier one that it overrules. */
  async listDecisions(options: DecisionOptions = {}): Promise<readonly Decision[]> {
    const { waitMs, limit, signal } = checkFields("options", options, {
      scope: "object?",
      project: "name?",
      limit: "number?",
      waitMs: "number?",
      signal: "signal?",
    });
    if (limit !== undefined) checkWholeNumber("limit", limit, 1, MAX_DECISIONS);
    await this.#follower.catchUpWithin(checkWholeNumber("waitMs", waitMs ?? WAIT_MS, 0), signal);
    const filter = await this.#search.resolveScope(options.scope);
    const isLeftOut = this.#departed.look().isTakenBack;
    return listDecisions({ log: this.#deps.log, texts: this.#texts, filter, isLeftOut }, options);
  }

  /** True if the store has no conversation and no file; those that a recall may not see, or cannot index, count too. */
  async #isEmpty(): Promise<boolean> {
    const sessions = await this.#deps.log.store.sessions.list({ limit: 100 });
    const files = await this.sources({ kind: "file", limit: 1 });
    return files.length === 0 && sessions.every(({ id }) => findMemoryAgent(id) !== undefined);
  }

  /** Entries that may repeat a text: all candidates of a search, in no order, as far as they can be indexed in time. */
  async findRepetitions(text: string, waitMs = WAIT_MS): Promise<readonly Place[]> {
    checkKind("text", text, "text");
    await this.#follower.catchUpWithin(checkWholeNumber("waitMs", waitMs, 0));
    const { found } = await this.#search.search(text, { waitMs: 0 });
    const places = new Map<string, Place>();
    for (const { source, seq } of found.chunks.values()) {
      const { kind, name } = found.sources.get(source) ?? {};
      if (kind === "session" && name !== undefined)
        places.set(formatEntryId(name, seq), { session: name, seq });
    }
    return [...places.values()];
  }

  /**
   * Finds stretches of some sessions that relate to a question, best first, for a window that has lost them. Only these
   * sessions are indexed first, regardless of other unindexed entries.
   */
  async related(
    question: string,
    sessions: readonly SessionId[],
    options: RelatedOptions = {},
  ): Promise<RelatedContent> {
    const { before, signal } = checkFields("options", options, { before: "object?", signal: "signal?" });
    if (before) checkFields("before", before, { session: "name", seq: "number" });
    checkKind("question", question, "text");
    checkTexts("sessions", sessions);
    for (const session of sessions) await this.#follower.catchUpSession(session, signal ? { signal } : {});
    return findRelated(this.#search, this.#texts, question, sessions, options);
  }

  /**
   * The entries around a hit of a session, in order, with the hit's own entry in the middle. Around a memory, only
   * memories that recall may return are shown; around an entry that was not taken back, no entries that were.
   */
  async expand(entry: EntryId, options: ExpandOptions = {}): Promise<readonly Entry[]> {
    return readAroundEntry(this.#deps.log, this.#departed, entry, options);
  }

  /** The newest messages of a session, newest first; none if its last entry is older than `since`. */
  async readNewest(session: SessionId, options: ReadNewestOptions): Promise<readonly Entry[]> {
    const { limit, since = 0 } = checkFields("options", options, { since: "number?" });
    checkWholeNumber("limit", limit, 1, 100);
    const { entries } = this.#deps.log.store;
    if ((await entries.head(checkSessionId(session))).at < since) return [];
    const query = { from: 1, to: Number.POSITIVE_INFINITY, order: "descending", kinds: ["message"] } as const;
    return (await entries.read(session, { ...query, limit })).map((one) => toEntry(session, one));
  }

  /** Indexes everything committed. A recall does so by itself, but would have to wait after a large import. */
  async catchUp(options: CatchUpOptions = {}): Promise<void> {
    const { signal, onEmbedded } = checkFields("options", options, {
      signal: "signal?",
      onProgress: "function?",
      onEmbedded: "function?",
    });
    await this.#follower.catchUp(options);
    const total = onEmbedded ? await this.#vectors.countMissing() : 0;
    await this.#vectors.fill(
      signal,
      onEmbedded && ((embedded) => onEmbedded(embedded, Math.max(embedded, total))),
    );
    await this.#vectors.dropOthers();
  }

  /** A number that changes when any process erases content, which caches must not hold any longer. */
  async readErasures(): Promise<number> {
    return (await this.#deps.log.store.memory.state()).stamp;
  }

  /** The size of the index, and the work that it still lacks. */
  async state(): Promise<MemoryState> {
    return readMemoryState(this.#deps, this.#follower, this.#vectors);
  }

  /** The sessions and files in the index, in the order in which they came into it. */
  async sources(query: SourceQuery = {}): Promise<readonly IndexSource[]> {
    return readIndexSources(this.#deps.log, query);
  }

  /** The sessions with entries that are not indexed yet. */
  async unindexed(query: UnindexedQuery = {}): Promise<UnindexedPage> {
    return readUnindexedSessions(this.#deps.log, query);
  }

  /** Indexes files and folders; missing files are removed from the index. */
  async indexFiles(paths: readonly string[], options: IndexFilesOptions = {}): Promise<IndexedFiles> {
    checkFields("options", options, INDEX_FIELDS);
    const indexed = await indexFiles(this.#deps.log.store.memory, paths, options);
    await this.#vectors.fill(options.signal);
    return indexed;
  }

  /** Indexes files and folders now and after every change, until it or the kernel is closed. */
  watchFiles(paths: readonly string[], options: WatchFilesOptions = {}): Closable {
    this.#lifetime.assertOpen();
    checkFields("options", options, {
      ...INDEX_FIELDS,
      quietMs: "number?",
      onIndexed: "function?",
      onError: "function?",
    });
    const watching = watchFiles(this.#deps.log.store.memory, paths, options, this.#lifetime.census);
    const closable: Closable = {
      close: async () => {
        this.#lifetime.release(closable);
        await watching.close();
      },
    };
    return this.#lifetime.own(closable);
  }

  /**
   * Removes files, and all files below folders, from the index, whether they still exist or not, and returns their
   * number; the files themselves stay.
   */
  async forgetFiles(paths: readonly string[]): Promise<number> {
    const isMeant = buildPathFilter(checkTexts("paths", paths));
    const { memory } = this.#deps.log.store;
    const files = await new SourceNumbers(memory, "file").read();
    const meant = [...files.keys()].filter((name) => isMeant(name));
    for (const name of meant) await memory.forget({ kind: "file", name });
    return meant.length;
  }

  /** Approximate bytes of cached index data. */
  get cachedBytes(): number {
    return this.#search.cachedBytes + this.#texts.cachedBytes;
  }

  /** Releases cached index data; the next recall reads it again. */
  dropCaches(): void {
    this.#search.dropCaches();
    this.#texts.drop();
  }

  /** Idempotent. Interrupts embedding in progress, which continues the next time. */
  async close(): Promise<void> {
    this.#vectors.interrupt();
    try {
      await this.#lifetime.close();
    } finally {
      await this.#follower.close();
      await this.#vectors.close();
    }
  }
}

/** Options for expanding a hit. */
interface ExpandOptions {
  /** Messages before and after the entry; default 2. */
  readonly around?: number;
  /** False to return nothing for an entry that was taken back; default true. */
  readonly rewound?: boolean;
}

/** Reads the entries around one; see `Memory.expand`. */
async function readAroundEntry(
  log: Log,
  departedEntries: DepartedEntries,
  entry: EntryId,
  options: ExpandOptions,
): Promise<readonly Entry[]> {
  const { around = 2, rewound = true } = checkFields("options", options, { rewound: "boolean?" });
  const { session, seq } = parseEntryId(entry);
  const departed = departedEntries.look();
  const isTakenBack = await departed.isTakenBack(session, seq);
  if (isTakenBack && !rewound) return [];
  const { entries } = log.store;
  const limit = checkWholeNumber("around", around, 0, 100);
  const kinds = ["message"] as const;
  const before = await entries.read(session, { from: 1, to: seq - 1, limit, order: "descending", kinds });
  const own = await entries.get(session, seq);
  const to = Number.POSITIVE_INFINITY;
  const after = await entries.read(session, { from: seq + 1, to, limit, order: "ascending", kinds });
  const memories = new RecallableMemories(log);
  const isShown = async (other: number): Promise<boolean> =>
    (await memories.find(session, other)) !== "hidden" &&
    (isTakenBack || !(await departed.isTakenBack(session, other)));
  const shown: Entry[] = [];
  for (const one of [...[...before].reverse(), ...(own ? [own] : []), ...after])
    if (one.seq === seq || (await isShown(one.seq))) shown.push(toEntry(session, one));
  return shown;
}
