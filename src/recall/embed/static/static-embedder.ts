import { type SharedModel, shareModel } from "./shared-model.ts";
import { createTokenizer, type TokenSource } from "./static-tokenizer.ts";
import { readWeights, type Weights } from "./static-weights.ts";
import { readTables, type StoredTables, type TermTable } from "./stored-tables.ts";
import { buildWordTable, findWord, readWord, type WordTable } from "./word-table.ts";

/** The packaged embedder: a row per token; the vector of a text is the weighted sum of its tokens' rows. */
export interface StaticEmbedder {
  /** Changes whenever the same text may get a different vector. */
  readonly id: string;
  readonly dimensions: number;
  /** Number of tokens that are words; higher token numbers are pieces of unknown words. */
  readonly words: number;
  /** The token of each term; undefined if it is not stored and has to be computed. */
  readonly terms: TermTable | undefined;
  /** The model in shared memory, for another thread. */
  share(): SharedModel;
  /** One unit vector per text; all zeros for a text without known tokens. */
  embed(texts: readonly string[]): Float32Array[];
  /** The tokens of a text in order of appearance, including repetitions. */
  tokensOf(text: string): Int32Array;
  /** The row of one token: its unit vector before scaling. */
  rowOf(token: number): Int8Array;
  /** The unit vector of one token. */
  vectorOf(token: number): Float32Array;
  /** Weight of one token in a text; 0 for a token without a meaning of its own. */
  weightOf(token: number): number;
  /** The word of a token; undefined for a piece of an unknown word. */
  wordOf(token: number): string | undefined;
}

let packaged: StaticEmbedder | undefined;

/** Loads the packaged embedder, which all kernels of the process share, or the one in a given file. */
export function loadStaticEmbedder(path?: string | URL): StaticEmbedder {
  if (path !== undefined) return createStaticEmbedder(readWeights(path));
  if (!packaged) {
    const weights = readWeights();
    packaged = createStaticEmbedder(weights, readTables(weights.id));
  }
  return packaged;
}

/** Creates an embedder from the model of another thread. */
export function openSharedModel({ weights, words }: SharedModel): StaticEmbedder {
  return createStaticEmbedder(weights, { words });
}

/** Creates an embedder from loaded weights. The sums are whole numbers, so every machine gives the same vectors. */
export function createStaticEmbedder(
  weights: Weights,
  stored?: Pick<StoredTables, "words"> & Partial<StoredTables>,
): StaticEmbedder {
  const { dimensions, rows, factors } = weights;
  const table = stored?.words ?? buildWordTable(weights.words, factors.length - weights.pieces);
  const vocabulary = createVocabulary(table, weights.pieces);
  const tokenize = createTokenizer(vocabulary);
  const seen = new Int32Array(factors.length);
  const sum = new Float64Array(dimensions);

  let shared: SharedModel | undefined;

  const rowOf = (token: number) => rows.subarray(token * dimensions, (token + 1) * dimensions);

  const embedOne = (text: string): Float32Array => {
    const { numbers, count } = tokenize(text);
    sum.fill(0);
    for (let at = 0; at < count; at++) {
      const token = numbers[at] as number;
      seen[token] = (seen[token] as number) + 1;
    }
    // All occurrences of a token at once: the texts of agents repeat themselves.
    for (let at = 0; at < count; at++) {
      const token = numbers[at] as number;
      const factor = sumShares(seen[token] as number) * (factors[token] as number);
      seen[token] = 0;
      if (factor === 0) continue;
      const from = token * dimensions;
      for (let axis = 0; axis < dimensions; axis++) {
        sum[axis] = (sum[axis] as number) + factor * (rows[from + axis] as number);
      }
    }
    return toUnitVector(sum);
  };

  return {
    id: weights.id,
    dimensions,
    words: vocabulary.words,
    terms: stored?.terms,
    share() {
      shared ??= shareModel(weights, table);
      return shared;
    },
    embed: (texts) => texts.map(embedOne),
    tokensOf(text) {
      const { numbers, count } = tokenize(text);
      return numbers.slice(0, count);
    },
    rowOf,
    vectorOf: (token) => toUnitVector(rowOf(token)),
    weightOf: (token) => ((factors[token] ?? 0) * computeLength(rowOf(token))) / WEIGHT_UNIT,
    wordOf: vocabulary.wordOf,
  };
}

/** Weight of no, one, two, three … occurrences of a token, in 16ths; every further one adds `REPEAT_SHARE`. */
const SHARES: readonly number[] = [0, 16, 27, 37];
const REPEAT_SHARE = 8;

function sumShares(count: number): number {
  return SHARES[count] ?? 37 + REPEAT_SHARE * (count - 3);
}

/** Unit of the weights; only their ratios matter. */
const WEIGHT_UNIT = 65_535 * 127;

function computeLength(values: ArrayLike<number>): number {
  let squares = 0;
  for (let axis = 0; axis < values.length; axis++) {
    const value = values[axis] as number;
    squares += value * value;
  }
  return Math.sqrt(squares);
}

function toUnitVector(values: ArrayLike<number>): Float32Array {
  const vector = new Float32Array(values.length);
  const length = computeLength(values);
  if (length === 0) return vector;
  for (let axis = 0; axis < values.length; axis++) vector[axis] = (values[axis] as number) / length;
  return vector;
}

/** The words that have their own row, and the rows of pieces of unknown words. */
interface Vocabulary extends TokenSource {
  readonly words: number;
  /** The word of a token; undefined for a piece of an unknown word. */
  wordOf(token: number): string | undefined;
}

/** Creates the vocabulary of a table; `pieces` rows for pieces of unknown words follow those of the words. */
export function createVocabulary(table: WordTable, pieces: number): Vocabulary {
  const words = table.starts.length - 1;
  return {
    words,
    find: (units, start, end) => findWord(table, units, start, end),
    piece: (hash) => words + (hash % pieces),
    wordOf: (token) => readWord(table, token),
  };
}
