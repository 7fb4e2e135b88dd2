import { loadStaticEmbedder } from "../../../src/memory/embed/static/embedder.ts";
import { createTermVectors } from "../../../src/memory/rank/term-vectors.ts";
import type { Embedding } from "./in-memory-scope.ts";

/** The embedder that comes with the package; null when its weights are not there. */
export function loadEmbedding(): Embedding | null {
  try {
    const embedder = loadStaticEmbedder();
    return { vectors: createTermVectors(embedder), embed: (texts) => embedder.embed(texts) };
  } catch {
    return null;
  }
}
