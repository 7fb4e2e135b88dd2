import type { Census } from "../../model/scope.ts";
import type { TermVectors } from "../rank/candidate.ts";
import { createTermVectors } from "../rank/term-vectors.ts";
import type { Embedder } from "./embedder.ts";
import { offlineEmbedder } from "./offline.ts";
import { loadStaticEmbedder, type StaticEmbedder } from "./static/embedder.ts";

/** What memory knows of meaning. */
export interface PackagedMeaning {
  readonly embedder: Embedder;
  /** Closeness of single words; null if the embedder cannot be loaded. */
  readonly termVectors: () => TermVectors | null;
}

/** Where the embedder is, and where its worker threads are counted. */
export interface PackagedOptions {
  readonly path?: string | URL;
  readonly census?: Census;
}

/** The embedder that comes with us, loaded when it is first needed: a program that never recalls pays nothing for it. */
export function packagedMeaning({ path, census }: PackagedOptions = {}): PackagedMeaning {
  let loaded: { readonly words: StaticEmbedder; readonly embedder: Embedder } | undefined;
  let vectors: TermVectors | null | undefined;
  const load = () => {
    if (!loaded) {
      const words = loadStaticEmbedder(path);
      loaded = { words, embedder: offlineEmbedder(words, census) };
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
        vectors ??= createTermVectors(load().words);
      } catch {
        // Told where the embedder itself is used; words are still compared by their letters.
        vectors = null;
      }
      return vectors;
    },
  };
}
