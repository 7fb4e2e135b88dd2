import { checkFields } from "../../model/argument-checks.ts";
import type { Embedder } from "./embedder.ts";
import { learnDimensions } from "./learn-dimensions.ts";
import { checkVectors, embedInBatches, postJson, type RemoteOptions } from "./remote-embedding.ts";

/** An embedder that uses a model of an Ollama server; `url` defaults to http://127.0.0.1:11434. */
export function ollamaEmbedder(options: Omit<RemoteOptions, "url"> & { readonly url?: string }): Embedder {
  checkFields("options", options, { url: "text?", model: "name" });
  const { url = "http://127.0.0.1:11434", model, batchSize } = options;
  const id = `ollama/${model}`;
  return learnDimensions(id, (texts, { signal } = {}) =>
    embedInBatches(texts, batchSize, async (batch) => {
      const call = { id, url: `${url.replace(/\/+$/, "")}/api/embed`, body: { model, input: batch } };
      const answer = await postJson(call, { ...options, url }, { ...(signal && { signal }) });
      return checkVectors(id, (answer as { embeddings?: unknown } | null)?.embeddings, batch.length);
    }),
  );
}
