import { loadStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { createTermVectors } from "../../../src/recall/rank/term-vectors.ts";
import type { Embedding } from "./in-memory-scope.ts";

let loaded: Embedding | null | undefined;

/** The bundled embedder, loaded once; null if its weights are missing. */
export function loadEmbedding(): Embedding | null {
  if (loaded === undefined) loaded = load();
  return loaded;
}

function load(): Embedding | null {
  try {
    const embedder = loadStaticEmbedder();
    const { id, dimensions } = embedder;
    return { id, dimensions, vectors: createTermVectors(embedder), embed: (texts) => embedder.embed(texts) };
  } catch {
    return null;
  }
}
