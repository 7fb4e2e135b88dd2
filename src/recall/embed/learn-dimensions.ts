import type { Embedder } from "./embedder.ts";

/** An embedder that learns its dimensions from the first response, unless they are given. */
export function learnDimensions(id: string, embed: Embedder["embed"], dimensions?: number): Embedder {
  let known = dimensions;
  return {
    id,
    get dimensions() {
      return known;
    },
    async embed(texts, options) {
      const vectors = await embed(texts, options);
      known ??= vectors[0]?.length;
      return vectors;
    },
  };
}
