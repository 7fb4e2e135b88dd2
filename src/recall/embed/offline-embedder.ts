import { Worker } from "node:worker_threads";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import { Census } from "../../model/lifetime.ts";
import type { Embedder } from "./embedder.ts";
import type { EmbedRequest, WorkerAnswer } from "./offline-worker.ts";
import type { SharedModel } from "./static/shared-model.ts";
import type { StaticEmbedder } from "./static/static-embedder.ts";

/** Up to this many characters are embedded in the main thread, which is faster than a message to a worker and back. */
const INLINE_CHARACTERS = 20_000;
/** A worker is terminated after this idle time. */
const IDLE_MS = 5_000;

/**
 * The packaged embedder: small inputs are embedded at once, large batches in a worker thread that lives as long as they
 * take.
 */
export function createOfflineEmbedder(embedder: StaticEmbedder, census = new Census()): Embedder {
  let worker: EmbedWorker | undefined;
  return {
    id: embedder.id,
    dimensions: embedder.dimensions,
    isInstant: true,
    async embed(texts, { signal } = {}) {
      throwIfAborted(signal);
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      if (characters <= INLINE_CHARACTERS) return embedder.embed(texts);
      if (!worker?.isUsable) worker = new EmbedWorker(embedder.share(), census);
      return splitVectors(await worker.embed(texts), embedder.dimensions);
    },
    async close() {
      await worker?.close();
    },
  };
}

function splitVectors(vectors: Float32Array, dimensions: number): Float32Array[] {
  return Array.from({ length: vectors.length / dimensions }, (_, index) =>
    vectors.subarray(index * dimensions, (index + 1) * dimensions),
  );
}

class EmbedWorker {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<Float32Array>>();
  #idle: NodeJS.Timeout | undefined;
  #next = 1;
  isUsable = true;

  constructor(model: SharedModel, census: Census) {
    this.#worker = new Worker(resolveModuleFile("recall/embed/offline-worker"), { workerData: model });
    census.opened("worker");
    this.#worker.once("exit", () => census.closed("worker"));
    this.#worker.unref();
    this.#worker.on("message", ({ number, vectors }: WorkerAnswer) => {
      this.#waiting.get(number)?.resolve(vectors);
      this.#settle(number);
    });
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () =>
      this.#fail(new LonghaulError("CLOSED", "The embedding worker was ended; repeat the call.")),
    );
  }

  embed(texts: readonly string[]): Promise<Float32Array> {
    clearTimeout(this.#idle);
    const number = this.#next++;
    const waiting = Promise.withResolvers<Float32Array>();
    this.#waiting.set(number, waiting);
    // The worker keeps the process alive only while a request is pending.
    this.#worker.ref();
    const request: EmbedRequest = { number, texts };
    this.#worker.postMessage(request);
    return waiting.promise;
  }

  async close(): Promise<void> {
    this.isUsable = false;
    clearTimeout(this.#idle);
    await this.#worker.terminate();
  }

  #settle(number: number): void {
    this.#waiting.delete(number);
    if (this.#waiting.size > 0) return;
    this.#worker.unref();
    this.#idle = setTimeout(() => void this.close(), IDLE_MS);
    this.#idle.unref();
  }

  #fail(error: unknown): void {
    this.isUsable = false;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}
