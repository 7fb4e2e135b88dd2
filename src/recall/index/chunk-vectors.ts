import { type MemoryStore, SEGMENT_CHUNKS, type UnembeddedChunk } from "../../log/store/memory-store.ts";
import { waitAtMost } from "../../model/base/time-limit.ts";
import { isLonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { Embedder } from "../embed/embedder.ts";
import { quantizeVector } from "../vectors/quantize.ts";
import { VectorIndex } from "../vectors/vector-index.ts";
import type { ChunkTexts } from "./chunk-texts.ts";

const VECTOR_BYTES = 256 * 1024 * 1024;
/** Number of chunks without a vector that a recall embeds itself, before it searches. */
const MAX_EMBEDDED_FIRST = 64;

interface ChunkVectorsDeps {
  readonly store: MemoryStore;
  readonly texts: ChunkTexts;
  /** Undefined to search only by words. */
  readonly embedder: Embedder | undefined;
  /** Maximum bytes of vectors held in memory, default 256 MB; others are read for each recall. */
  readonly maxVectorBytes: number | undefined;
  readonly onWarning: ((warning: string) => void) | undefined;
  /** The share of `maxVectorBytes` that may be used now. */
  readonly getShare: () => number;
}

/** How much may be embedded for a question before the search. */
export interface VectorWait {
  /** Number of chunks without a vector to embed at once; more of them are embedded in the background. */
  readonly embeddedFirst?: number;
  /** Maximum time to wait for those, if the embedder runs in this process; default 0. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** A question's vector, or the reason why there is none. */
interface QuestionVector {
  readonly vector?: ArrayLike<number>;
  readonly reason?: string;
}

/** The vectors of all chunks: adds missing ones, in the background if they are many, and embeds questions. */
export class ChunkVectors {
  readonly #deps: ChunkVectorsDeps;
  readonly #filler: VectorFiller | undefined;
  readonly #closing = new AbortController();
  #loaded: VectorIndex | undefined;
  #background: Promise<void> | undefined;

  constructor(deps: ChunkVectorsDeps) {
    this.#deps = deps;
    this.#filler = deps.embedder && new VectorFiller(deps.store, deps.texts, deps.embedder);
  }

  /** The vectors in memory; undefined before the first question. */
  get loaded(): VectorIndex | undefined {
    return this.#loaded;
  }

  /**
   * Embeds the question and loads the vectors to compare it with; on failure returns a reason, and recall uses words
   * only.
   */
  async embedQuestion(
    question: string,
    { embeddedFirst = MAX_EMBEDDED_FIRST, waitMs = 0, signal }: VectorWait,
  ): Promise<QuestionVector> {
    const { embedder, store, maxVectorBytes = VECTOR_BYTES } = this.#deps;
    if (!embedder || !this.#filler) return { reason: "there is no embedder" };
    try {
      const space = await this.#filler.resolveSpace(signal);
      if (!this.#background) {
        const filled = embedder.isInstant
          ? await this.#filler.fill({ maxChunks: embeddedFirst, ...(signal && { signal }) })
          : embeddedFirst;
        if (filled >= embeddedFirst) this.#fillInBackground();
      }
      if (embedder.isInstant && this.#background) await waitAtMost(waitMs, this.#background, signal);
      // Chunks with vectors would win over those without, so many missing vectors turn all of them off.
      const missing = await this.#filler.countMissing(embeddedFirst);
      if (missing > embeddedFirst)
        return { reason: `about ${missing} chunks have no vector yet; they are added in the background` };
      this.#loaded ??= new VectorIndex(store, space, maxVectorBytes * this.#deps.getShare());
      await this.#loaded.refresh();
      const [vector] = await embedder.embed([question], { ...(signal && { signal }) });
      return vector ? { vector } : { reason: `${embedder.id} sent no vector` };
    } catch (error) {
      if (isLonghaulError(error, "ABORTED")) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      this.#deps.onWarning?.(`Recall goes by words alone: ${reason}`);
      return { reason };
    }
  }

  /** Counts the chunks without a vector, approximately if there are many; 0 without an embedder. */
  async countMissing(): Promise<number> {
    return (await this.#filler?.countMissing(MAX_EMBEDDED_FIRST)) ?? 0;
  }

  /** Adds all missing vectors. */
  async fill(signal?: AbortSignal, onProgress?: (embedded: number) => void): Promise<void> {
    await this.#filler?.fill({ ...(signal && { signal }), ...(onProgress && { onProgress }) });
  }

  /** Once every chunk has a vector of this embedder, those of others are useless. */
  async dropOthers(): Promise<void> {
    if (!this.#filler) return;
    const { embedder } = await this.#filler.resolveSpace();
    await this.#deps.store.vectors.dropOthers(embedder);
  }

  /** Releases the vectors in memory; the next question loads them again. */
  unload(): void {
    this.#loaded = undefined;
  }

  /** Stops adding vectors in the background. */
  interrupt(): void {
    this.#closing.abort();
  }

  /** Waits for work in the background, and closes the embedder. */
  async close(): Promise<void> {
    this.interrupt();
    await this.#background;
    await this.#deps.embedder?.close?.();
  }

  #fillInBackground(): void {
    const { signal } = this.#closing;
    this.#background = this.fill(signal)
      .then(() => this.dropOthers())
      .catch((error) => {
        if (!signal.aborted)
          this.#deps.onWarning?.(`Embedding stopped and goes on with the next recall: ${String(error)}`);
      })
      .finally(() => {
        this.#background = undefined;
      });
  }
}

/** Chunks embedded per batch. */
const BATCH_SIZE = 512;

interface FillOptions {
  readonly signal?: AbortSignal;
  /** Approximate maximum number of chunks. */
  readonly maxChunks?: number;
  readonly onProgress?: (embedded: number) => void;
}

/** Adds missing vectors of chunks: from the cache, else from the embedder. An interrupted run continues later. */
class VectorFiller {
  readonly #store: MemoryStore;
  readonly #texts: ChunkTexts;
  readonly #embedder: Embedder;
  #number: number | undefined;
  #dimensions: number | undefined;
  #running: Promise<number> | undefined;
  /** All chunks up to this number have vectors. */
  #done = 0;

  constructor(store: MemoryStore, texts: ChunkTexts, embedder: Embedder) {
    this.#store = store;
    this.#texts = texts;
    this.#embedder = embedder;
  }

  /** Number and dimensions of the embedder in the index; embeds a sample text if only that reveals the dimensions. */
  async resolveSpace(signal?: AbortSignal): Promise<{ embedder: number; dimensions: number }> {
    this.#dimensions ??= this.#embedder.dimensions ?? (await this.#probe(signal));
    this.#number ??= await this.#store.vectors.embedder(this.#embedder.id, this.#dimensions);
    return { embedder: this.#number, dimensions: this.#dimensions };
  }

  /** Returns the number of chunks that got a vector. */
  async fill(options: FillOptions = {}): Promise<number> {
    while (this.#running) await this.#running.catch(() => 0);
    const running = this.#fill(options).finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** Counts the chunks without a vector: exactly up to `limit`, else approximately. */
  async countMissing(limit: number): Promise<number> {
    const { vectors } = this.#store;
    const { embedder } = await this.resolveSpace();
    await this.#findDone(embedder);
    const { lastChunk } = await this.#store.state();
    if (this.#done >= lastChunk) return 0;
    const { length } = await vectors.missing(embedder, this.#done, limit + 1);
    if (length === 0) this.#done = lastChunk;
    return length <= limit ? length : Math.max(length, lastChunk - this.#done);
  }

  /** Skips packed segments; they are packed in order, so everything before the first gap is done. */
  async #findDone(embedder: number): Promise<number> {
    const packed = await this.#store.vectors.packed(embedder);
    const whole = packed.findIndex((segment, index) => segment !== index);
    const segment = whole < 0 ? packed.length : whole;
    this.#done = Math.max(this.#done, segment * SEGMENT_CHUNKS - 1);
    return segment;
  }

  async #fill({
    signal,
    maxChunks: atMost = Number.POSITIVE_INFINITY,
    onProgress,
  }: FillOptions): Promise<number> {
    const { vectors } = this.#store;
    const { embedder } = await this.resolveSpace(signal);
    let segment = await this.#findDone(embedder);
    let filled = 0;
    while (filled < atMost) {
      throwIfAborted(signal);
      const { lastChunk, stamp } = await this.#store.state();
      if (this.#done >= lastChunk) break;
      const missing = await vectors.missing(embedder, this.#done, Math.min(BATCH_SIZE, atMost - filled));
      if (missing.length === 0) {
        this.#done = lastChunk;
        break;
      }
      await this.#texts.refresh(stamp);
      await vectors.write(embedder, await this.#embed(missing, embedder, signal));
      filled += missing.length;
      this.#done = missing.at(-1)?.number ?? this.#done;
      onProgress?.(filled);
    }
    const { sealed } = await this.#store.state();
    for (; segment < sealed; segment++) if (!(await vectors.pack(embedder, segment))) break;
    return filled;
  }

  async #embed(missing: readonly UnembeddedChunk[], embedder: number, signal: AbortSignal | undefined) {
    const { vectors } = this.#store;
    const isCached = this.#embedder.isInstant !== true;
    const hashes = missing.map(({ hash }) => hash);
    const known = isCached ? await vectors.cached(embedder, hashes) : hashes.map(() => undefined);
    const wanted = missing.filter((_, index) => known[index] === undefined);
    const texts: string[] = [];
    // One after another: all but the first chunk of an entry find its text in the cache.
    for (const chunk of wanted) texts.push((await this.#texts.read(chunk)) ?? "");
    const made = texts.length > 0 ? await this.#embedder.embed(texts, { ...(signal && { signal }) }) : [];
    const fresh = new Map(wanted.map(({ number }, index) => [number, quantizeVector(made[index] ?? [])]));
    if (isCached && wanted.length > 0) {
      const entries = wanted.map(({ number, hash }) => ({ hash, vector: fresh.get(number) as Int8Array }));
      await vectors.cache(embedder, entries);
    }
    return missing.map(({ number }, index) => ({
      chunk: number,
      vector: known[index] ?? (fresh.get(number) as Int8Array),
    }));
  }

  async #probe(signal: AbortSignal | undefined): Promise<number> {
    const [vector] = await this.#embedder.embed(["dimensions"], { ...(signal && { signal }) });
    return vector?.length ?? 0;
  }
}
