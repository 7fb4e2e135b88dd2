import { type MemoryStore, SEGMENT_CHUNKS, type UnembeddedChunk } from "../../log/store/memory-store.ts";
import { throwIfAborted } from "../../model/errors.ts";
import type { Embedder } from "../embed/embedder.ts";
import { quantizeVector } from "../vectors/quantize.ts";
import type { ChunkTexts } from "./chunk-texts.ts";

/** Chunks embedded per batch. */
const BATCH_SIZE = 512;

interface FillOptions {
  readonly signal?: AbortSignal;
  /** Approximate maximum number of chunks. */
  readonly maxChunks?: number;
  readonly onProgress?: (embedded: number) => void;
}

/** Adds missing vectors of chunks: from the cache, else from the embedder. An interrupted run continues later. */
export class VectorFiller {
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
