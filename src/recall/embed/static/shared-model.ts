import type { Weights } from "./static-weights.ts";
import type { WordTable } from "./word-table.ts";

/** The model of an embedder in memory that worker threads share, so that none of them loads or copies it. */
export interface SharedModel {
  readonly weights: Weights;
  readonly words: WordTable;
}

/** Moves a model into shared memory; arrays that are there already stay where they are. */
export function shareModel(
  { id, dimensions, pieces, factors, rows }: Weights,
  words: WordTable,
): SharedModel {
  return {
    weights: { id, dimensions, pieces, words: "", factors: share(factors), rows: share(rows) },
    words: { slots: share(words.slots), starts: share(words.starts), units: share(words.units) },
  };
}

function share<Numbers extends Int8Array | Uint16Array | Int32Array>(numbers: Numbers): Numbers {
  if (numbers.buffer instanceof SharedArrayBuffer) return numbers;
  const memory = new SharedArrayBuffer(numbers.byteLength);
  const shared = new (numbers.constructor as new (memory: SharedArrayBuffer) => Numbers)(memory);
  shared.set(numbers);
  return shared;
}
