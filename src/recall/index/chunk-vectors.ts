import type { MemoryStore } from "../../log/store/memory-store.ts";
import { waitAtMost } from "../../model/base/time-limit.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { Embedder } from "../embed/embedder.ts";
import { VectorIndex } from "../vectors/vector-index.ts";
import type { ChunkTexts } from "./chunk-texts.ts";
import { VectorFiller } from "./vector-filler.ts";

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
