import { BoundedMap, type DroppableCache } from "../../model/base/caches.ts";
import { analyzeWord } from "../text/analyze-text.ts";
import { EAST_ASIAN } from "../text/east-asian.ts";
import type { TermVector, TermVectors } from "./turn-candidate.ts";

/** The part of an embedder with word vectors that term vectors need. */
interface WordVectors {
  readonly words: number;
  wordOf(token: number): string | undefined;
  /** The direction of a token, not scaled. */
  rowOf(token: number): ArrayLike<number>;
  vectorOf(token: number): Float32Array;
}

/** Terms kept: more than the candidates of several questions have. */
const MAX_TERMS = 12_000;
/** A term with the signs of its vector. Values, which few terms need, come on top. */
const BYTES_PER_TERM = 250;

/** Vectors by term, with the size of their cache. */
export interface CachedTermVectors extends TermVectors, DroppableCache {}

/** Vectors by term; `tokens` gives the token of each term. */
export function createTermVectors(
  embedder: WordVectors,
  tokens: Pick<ReadonlyMap<string, number>, "get"> = mapTermsOnce(embedder),
): CachedTermVectors {
  // Null for terms without a vector: names and numbers are looked up as often as words.
  const cache = new BoundedMap<string, TokenVector | null>({ max: MAX_TERMS });
  return {
    vectorOf(term) {
      const known = cache.get(term);
      if (known !== undefined) return known ?? undefined;
      const token = tokens.get(term);
      const vector = token === undefined ? null : new TokenVector(embedder, token);
      cache.set(term, vector);
      return vector ?? undefined;
    },
    sizeBytes() {
      let size = cache.size * BYTES_PER_TERM;
      for (const [, vector] of cache) size += vector?.valueBytes ?? 0;
      return size;
    },
    itemCount: () => cache.size,
    drop: () => cache.clear(),
  };
}

const mapped = new WeakMap<WordVectors, ReadonlyMap<string, number>>();

function mapTermsOnce(embedder: WordVectors): ReadonlyMap<string, number> {
  const terms = mapped.get(embedder) ?? mapTerms(embedder);
  mapped.set(embedder, terms);
  return terms;
}

/** The token of each term: that of the shortest word with the term's stem, which is closest to its base form. */
export function mapTerms(embedder: Pick<WordVectors, "words" | "wordOf">): ReadonlyMap<string, number> {
  const tokens = new Map<string, number>();
  const lengths = new Map<string, number>();
  for (let token = 0; token < embedder.words; token++) {
    const word = embedder.wordOf(token);
    if (word === undefined) continue;
    const term = findTerm(word);
    if (term === undefined || (lengths.get(term) ?? Number.POSITIVE_INFINITY) <= word.length) continue;
    tokens.set(term, token);
    lengths.set(term, word.length);
  }
  return tokens;
}

/**
 * The only term of a word; undefined if it has none or several. Single East Asian characters and pairs are terms
 * themselves.
 */
function findTerm(word: string): string | undefined {
  if (EAST_ASIAN.test(word)) return word.length <= 2 ? word : undefined;
  const [term, ...more] = analyzeWord(word);
  return more.length > 0 ? undefined : term;
}

/** The vector of a token. Its values are computed on demand: signs are enough to tell most words apart. */
class TokenVector implements TermVector {
  readonly signs: Int32Array;
  readonly dimensions: number;
  readonly #embedder: WordVectors;
  readonly #token: number;
  #values: Float32Array | undefined;

  constructor(embedder: WordVectors, token: number) {
    const row = embedder.rowOf(token);
    this.signs = packSigns(row);
    this.dimensions = row.length;
    this.#embedder = embedder;
    this.#token = token;
  }

  /** Bytes of the values, 0 before they are computed. */
  get valueBytes(): number {
    return this.#values?.byteLength ?? 0;
  }

  get values(): Float32Array {
    this.#values ??= this.#embedder.vectorOf(this.#token);
    return this.#values;
  }
}

/** Adds the signs to a vector. */
export function toTermVector(values: Float32Array): TermVector {
  return { values, signs: packSigns(values), dimensions: values.length };
}

function packSigns(values: ArrayLike<number>): Int32Array {
  const signs = new Int32Array(Math.ceil(values.length / 32));
  for (let axis = 0; axis < values.length; axis++) {
    if ((values[axis] as number) > 0) signs[axis >> 5] = (signs[axis >> 5] as number) | (1 << (axis & 31));
  }
  return signs;
}
