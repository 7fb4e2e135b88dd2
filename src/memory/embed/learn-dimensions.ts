import type { Embedder } from "./embedder.ts";

/** An embedder that learns its dimensions from its first answer, where they were not asked for. */
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
