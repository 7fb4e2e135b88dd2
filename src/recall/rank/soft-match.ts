import type { Query } from "./query.ts";
import type { TermVector, TermVectors, TurnCandidate } from "./turn-candidate.ts";

/** Minimum cosine of two related words. */
const MIN_COSINE = 0.45;
/** Number of the rarest question words to find related words for. */
const MAX_COMPARED = 8;

/** Creates a scorer of candidates by the closest word that each has for every question word, weighted by rarity. */
export function createSoftMatcher(
  query: Query,
  vectors: TermVectors,
  averageLength: number,
): (candidate: TurnCandidate) => number {
  const rarest = [...query.rarities].sort((left, right) => right - left)[MAX_COMPARED - 1] ?? 0;
  const targets = query.terms.map((term, place) =>
    (query.rarities[place] as number) >= rarest ? vectors.vectorOf(term) : undefined,
  );
  const size = targets.length;
  const places = new Map(query.terms.map((term, place) => [term, place]));
  // Candidates of one question share most of their words, so each word is compared once.
  const known = new Map<string, Float32Array | null>();

  const closenessOf = (term: string): Float32Array | null => {
    const found = known.get(term);
    if (found !== undefined) return found;
    const vector = vectors.vectorOf(term);
    const own = places.get(term);
    let closeness: Float32Array | null = null;
    for (let place = 0; place < size; place++) {
      const target = targets[place];
      const cosine = place === own ? 1 : vector && target ? computeCosine(vector, target) : 0;
      if (cosine < MIN_COSINE) continue;
      closeness ??= new Float32Array(size);
      closeness[place] = cosine;
    }
    known.set(term, closeness);
    return closeness;
  };

  const best = new Float32Array(size);
  return ({ chunks, length }) => {
    best.fill(0);
    for (const { terms } of chunks) {
      for (const term of terms) {
        const closeness = closenessOf(term);
        if (closeness === null) continue;
        for (let place = 0; place < size; place++) {
          if ((closeness[place] as number) > (best[place] as number))
            best[place] = closeness[place] as number;
        }
      }
    }
    let score = 0;
    for (let place = 0; place < size; place++)
      score += (query.rarities[place] as number) * (best[place] as number);
    return score * (0.3 + (0.7 * length) / averageLength) ** -0.35;
  };
}

/** Two vectors that differ in a larger share of signs are almost always below `MIN_COSINE`. */
const MAX_DIFFERENT_SIGNS = 0.45;

function computeCosine(left: TermVector, right: TermVector): number {
  let different = 0;
  for (let word = 0; word < left.signs.length; word++) {
    different += countBits((left.signs[word] as number) ^ (right.signs[word] as number));
  }
  return different > MAX_DIFFERENT_SIGNS * left.dimensions ? 0 : computeDotProduct(left.values, right.values);
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The dot product of two vectors of the same length. */
export function computeDotProduct(left: Float32Array, right: Float32Array): number {
  let product = 0;
  for (let axis = 0; axis < left.length; axis++) product += (left[axis] as number) * (right[axis] as number);
  return product;
}
