import { checkFields } from "../../model/argument-checks.ts";
import { checkWholeNumber } from "../../model/errors.ts";
import type { Embedder } from "./embedder.ts";
import { learnDimensions } from "./learn-dimensions.ts";
import {
  checkVectors,
  createEmbedError,
  embedInBatches,
  postJson,
  type RemoteOptions,
} from "./remote-embedding.ts";

/** Settings of a server with OpenAI's embeddings API. */
interface OpenAiEmbedderOptions extends RemoteOptions {
  /** Shortens the vectors, if the model supports it. */
  readonly dimensions?: number;
}

/** An embedder that uses a server with OpenAI's embeddings API; `url` ends before `/embeddings`, as in `…/v1`. */
export function openAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  checkFields("options", options, { url: "name", model: "name" });
  const { url, model, batchSize, dimensions } = options;
  if (dimensions !== undefined) checkWholeNumber("dimensions", dimensions, 1);
  const id = `openai/${model}${dimensions === undefined ? "" : `@${dimensions}`}`;
  const embed: Embedder["embed"] = (texts, { signal } = {}) =>
    embedInBatches(texts, batchSize, async (batch) => {
      const body = { model, input: batch, ...(dimensions !== undefined && { dimensions }) };
      const call = { id, url: `${url.replace(/\/+$/, "")}/embeddings`, body };
      const answer = await postJson(call, options, { ...(signal && { signal }) });
      return checkVectors(id, orderVectors(id, answer, batch.length), batch.length);
    });
  return learnDimensions(id, embed, dimensions);
}

/** Sorts the vectors by the index that each one carries. */
function orderVectors(id: string, answer: unknown, count: number): unknown[] {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) throw createEmbedError(id, "its answer has no data", { isRetryable: false });
  const vectors = new Array<unknown>(count);
  for (const [place, item] of (data as { index?: number; embedding?: unknown }[]).entries())
    vectors[item.index ?? place] = item.embedding;
  return vectors;
}
