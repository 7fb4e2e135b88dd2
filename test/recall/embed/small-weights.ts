import type { Weights } from "../../../src/recall/embed/static/static-weights.ts";

const WORDS = ["cat", "dog", "use", "state", "http", "don't", "javascript", "数", "据", "数据", "2", "walk"];
const PIECES = 5;
const DIMENSIONS = 4;

/** The weights of a tiny embedder with easily distinguishable rows. */
export function smallWeights(): Weights {
  const count = WORDS.length + PIECES;
  const rows = Int8Array.from({ length: count * DIMENSIONS }, (_, index) => ((index * 37) % 255) - 127);
  return {
    id: "small-1",
    dimensions: DIMENSIONS,
    words: WORDS.join("\n"),
    pieces: PIECES,
    factors: Uint16Array.from({ length: count }, (_, row) => 1_000 + row * 3_000),
    rows,
  };
}
