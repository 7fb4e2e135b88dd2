import type { EmbeddingModel } from "ai";
import { checkFields } from "../../model/argument-checks.ts";
import { toProviderError } from "../../wire/provider/ai-sdk/to-provider-error.ts";
import { withPackage } from "../../wire/provider/ai-sdk/with-package.ts";
import type { Embedder } from "./embedder.ts";
import { learnDimensions } from "./learn-dimensions.ts";

/** An embedder that uses a model of the AI SDK; the package `ai` is loaded on first use. */
export function aiSdkEmbedder(model: EmbeddingModel): Embedder {
  if (typeof model !== "string") checkFields("model", model, { provider: "text", modelId: "text" });
  const id = typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
  return learnDimensions(id, async (texts, { signal } = {}) => {
    if (texts.length === 0) return [];
    const { embedMany } = await withPackage("ai", () => import("ai"));
    try {
      const values = [...texts];
      const { embeddings } = await embedMany({ model, values, ...(signal && { abortSignal: signal }) });
      return embeddings;
    } catch (error) {
      throw toProviderError(error, { provider: id, secrets: [], now: Date.now() });
    }
  });
}
