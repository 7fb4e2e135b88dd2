import { codesOf, type TextCodes } from "../text-codes.ts";

/** Five-bit codes of characters: one per letter, regardless of case; digits, spaces and symbols share a few. */
const BITS = new Uint8Array(128);
for (const [index, signs] of [
  ..."abcdefghijklmnopqrstuvwxyz",
  "0123456789",
  " \t\r\n",
  "-",
  ":",
  "/$.",
].entries())
  for (const sign of signs + signs.toUpperCase()) BITS[sign.charCodeAt(0)] = index + 1;
const ALL = 32 ** 3;

/** Finds the positions in a text at which one of several strings may begin, by three characters, regardless of case. */
export class Triples {
  readonly #values: Uint8Array;

  /** Takes strings with their numbers, at least 1; strings with the same first three characters share a number. */
  constructor(beginnings: readonly (readonly [beginning: string, number: number])[]) {
    this.#values = new Uint8Array(ALL);
    for (const [beginning, number] of beginnings) this.#values[tripleOf(beginning)] = number;
  }

  /** The next position from `from` on, -1 if there is none; may return false positives, but misses none. */
  next(codes: TextCodes, length: number, from: number): number {
    const values = this.#values;
    let triple = from + 1 < length ? (bitsAt(codes, from) << 5) | bitsAt(codes, from + 1) : 0;
    for (let at = from + 2; at < length; at++) {
      triple = ((triple << 5) | bitsAt(codes, at)) & (ALL - 1);
      if (values[triple] !== 0) return at - 2;
    }
    return -1;
  }

  /** The number of the string at a position that `next` returned. */
  numberAt(codes: TextCodes, at: number): number {
    return this.#values[tripleAt(codes, at)] as number;
  }
}

/** A number that is the same for texts with the same first three characters, regardless of case. */
export function tripleOf(text: string): number {
  return tripleAt(codesOf(text), 0);
}

function tripleAt(codes: TextCodes, at: number): number {
  return (bitsAt(codes, at) << 10) | (bitsAt(codes, at + 1) << 5) | bitsAt(codes, at + 2);
}

function bitsAt(codes: TextCodes, at: number): number {
  const code = codes[at] as number;
  return code < 128 ? (BITS[code] as number) : 0;
}
