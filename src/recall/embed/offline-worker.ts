import { parentPort, workerData } from "node:worker_threads";
import type { SharedModel } from "./static/shared-model.ts";
import { openSharedModel } from "./static/static-embedder.ts";

/** A batch of texts for the worker. */
export interface EmbedRequest {
  readonly number: number;
  readonly texts: readonly string[];
}

/** The response to the request with the same number: all vectors of the batch, concatenated. */
export interface WorkerAnswer {
  readonly number: number;
  readonly vectors: Float32Array;
}

const embedder = openSharedModel(workerData as SharedModel);

parentPort?.on("message", ({ number, texts }: EmbedRequest) => {
  const vectors = new Float32Array(texts.length * embedder.dimensions);
  for (const [index, vector] of embedder.embed(texts).entries()) vectors.set(vector, index * vector.length);
  const answer: WorkerAnswer = { number, vectors };
  parentPort?.postMessage(answer, [vectors.buffer]);
});
