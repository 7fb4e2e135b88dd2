import type { DroppableCache } from "../../model/base/caches.ts";
import type { Census } from "../../model/lifetime.ts";
import { type CachedTermVectors, createTermVectors } from "../rank/term-vectors.ts";
import type { TermVectors } from "../rank/turn-candidate.ts";
import type { Embedder } from "./embedder.ts";
import { createOfflineEmbedder } from "./offline-embedder.ts";
import { loadStaticEmbedder, type StaticEmbedder } from "./static/static-embedder.ts";

/** The packaged embedder and its word vectors. */
interface PackagedModel {
  readonly embedder: Embedder;
  /** Vectors of single words; null if the embedder cannot be loaded. */
  readonly termVectors: () => TermVectors | null;
  /** The cache of these vectors; empty while they are not loaded. */
  readonly termVectorCache: DroppableCache;
}

/** The path of the weights, and the census that counts worker threads. */
interface PackagedModelOptions {
  readonly path?: string | URL;
  readonly census?: Census;
}

/** The packaged embedder, loaded on first use, so that a program that never recalls does not pay for it. */
export function createPackagedModel({ path, census }: PackagedModelOptions = {}): PackagedModel {
  let loaded: { readonly words: StaticEmbedder; readonly embedder: Embedder } | undefined;
  let vectors: CachedTermVectors | null | undefined;
  const load = () => {
    if (!loaded) {
      const words = loadStaticEmbedder(path);
      loaded = { words, embedder: createOfflineEmbedder(words, census) };
    }
    return loaded;
  };
  return {
    embedder: {
      get id() {
        return load().embedder.id;
      },
      get dimensions() {
        return load().embedder.dimensions;
      },
      isInstant: true,
      embed: async (texts, options) => load().embedder.embed(texts, options),
      close: async () => loaded?.embedder.close?.(),
    },
    termVectors() {
      try {
        vectors ??= createTermVectors(load().words, load().words.terms);
      } catch {
        // The embedder itself reports the error when it is used; without vectors, words are compared by their letters.
        vectors = null;
      }
      return vectors;
    },
    termVectorCache: {
      sizeBytes: () => vectors?.sizeBytes() ?? 0,
      itemCount: () => vectors?.itemCount?.() ?? 0,
      drop: () => vectors?.drop(),
    },
  };
}
