import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BenchMessage } from "./peers/contestant.ts";
import { Random } from "./random.ts";

/** Name of the pool file in the folder of `writeCorpus`. */
export const POOL_FILE = "pool.txt";

/** Sizes are uniform in this range, so that messages have 2,048 bytes on average. */
export const MIN_MESSAGE_BYTES = 512;
export const MAX_MESSAGE_BYTES = 3_584;

/** A message and the UTF-8 size of its text. */
export interface SizedMessage extends BenchMessage {
  readonly sizeBytes: number;
}

/** Messages cut from the pool at pseudo-random positions: the same index always gives the same message. */
export class Corpus {
  readonly #pool: Buffer;

  constructor(pool: Buffer) {
    this.#pool = pool;
  }

  /** The message at an index; user and assistant alternate. */
  message(index: number): SizedMessage {
    const random = new Random(index);
    const start = characterFrom(this.#pool, random.between(0, this.#pool.length - MAX_MESSAGE_BYTES - 4));
    const wanted = random.between(MIN_MESSAGE_BYTES, MAX_MESSAGE_BYTES + 1);
    const text = this.#pool.toString("utf8", start, characterFrom(this.#pool, start + wanted));
    return { role: index % 2 === 0 ? "user" : "assistant", text, sizeBytes: Buffer.byteLength(text) };
  }

  /** The messages from one index up to, but not including, another. */
  messages(from: number, to: number): SizedMessage[] {
    return Array.from({ length: to - from }, (_, offset) => this.message(from + offset));
  }
}

/** Opens the corpus that `writeCorpus` wrote to a folder. */
export function openCorpus(folder: string): Corpus {
  return new Corpus(readFileSync(join(folder, POOL_FILE)));
}

/** Start of the first complete character at or after a position. */
export function characterFrom(bytes: Buffer, at: number): number {
  let start = at;
  while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return start;
}
