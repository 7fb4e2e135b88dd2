import {
  APOSTROPHE,
  buildLetterTables,
  DIGIT,
  EAST_ASIAN_LETTER,
  IGNORED,
  LOWER,
  SEPARATOR,
  UPPER,
} from "./letters.ts";

/** Maximum number of UTF-16 units that are read; callers split longer texts into chunks first. */
export const MAX_UNITS = 32_768;

/** The source of token numbers. `atomic` means that the word has no parts to fall back to. */
export interface TokenSource {
  find(units: Uint16Array, start: number, end: number, atomic: boolean): number;
  /** The row number for a four-letter piece of an unknown word. */
  piece(hash: number): number;
}

/** The tokens of the last text: `numbers[0..count)`, in order of appearance. Valid until the next call. */
interface TokenList {
  readonly numbers: Int32Array;
  count: number;
}

const WORD_MIN_FOR_PIECES = 3;
const WORD_MAX_FOR_PIECES = 24;
const MAX_PARTS = 12;
const PIECE_LENGTH = 4;
const WORD_EDGE = 0x20;
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;
const ENDINGS = ["s", "es", "ed", "d", "ing", "ly", "er", "ers"].map((ending) =>
  Uint16Array.from(ending, (letter) => letter.charCodeAt(0)),
);

/**
 * Creates the tokenizer that training and encoding share. A word is looked up whole, then without a possessive, then
 * split at case and digits; an unknown word yields its stem or its four-letter pieces; East Asian text yields
 * characters and pairs of them.
 */
export function createTokenizer(source: TokenSource): (text: string) => TokenList {
  const { classes, folded } = buildLetterTables();
  const units = new Uint16Array(MAX_UNITS + 2);
  const kinds = new Uint8Array(MAX_UNITS + 2);
  const tokens: TokenList = { numbers: new Int32Array(2 * MAX_UNITS + 4), count: 0 };

  const emit = (token: number): void => {
    tokens.numbers[tokens.count++] = token;
  };

  const emitPieces = (start: number, end: number): void => {
    const length = end - start;
    if (length < WORD_MIN_FOR_PIECES || length > WORD_MAX_FOR_PIECES) return;
    for (let from = start - 1; from + PIECE_LENGTH <= end + 1; from++) {
      let hash = HASH_START;
      for (let at = from; at < from + PIECE_LENGTH; at++) {
        const unit = at < start || at >= end ? WORD_EDGE : (units[at] as number);
        hash = Math.imul(hash ^ unit, HASH_FACTOR);
      }
      emit(source.piece(hash >>> 0));
    }
  };

  const emitKnown = (start: number, end: number, atomic: boolean): boolean => {
    const token = source.find(units, start, end, atomic);
    if (token >= 0) emit(token);
    return token >= 0;
  };

  const emitStem = (start: number, end: number): boolean =>
    ENDINGS.some((ending) => {
      const stemEnd = end - ending.length;
      const hasEnding = stemEnd - start >= WORD_MIN_FOR_PIECES && endsWith(units, stemEnd, ending);
      return hasEnding && emitKnown(start, stemEnd, true);
    });

  const emitPart = (start: number, end: number): void => {
    if (emitKnown(start, end, true) || kinds[start] === DIGIT || emitStem(start, end)) return;
    emitPieces(start, end);
  };

  const emitWord = (start: number, end: number): void => {
    const first = findPartEnd(kinds, start, end);
    if (first < end && emitKnown(start, end, false)) return;
    let parts = 0;
    for (let from = start, to = first; from < end && parts < MAX_PARTS; parts++) {
      emitPart(from, to);
      from = to;
      to = findPartEnd(kinds, from, end);
    }
  };

  const emitContracted = (start: number, end: number, apostrophe: number): void => {
    if (emitKnown(start, end, true)) return;
    emitWord(start, apostrophe);
    if (end - apostrophe > 2) emitWord(apostrophe + 1, end);
  };

  const emitEastAsian = (start: number, end: number): void => {
    for (let at = start; at < end; at++) {
      emitKnown(at, at + 1, true);
      if (at + 2 <= end) emitKnown(at, at + 2, true);
    }
  };

  return function tokenize(text: string): TokenList {
    tokens.count = 0;
    const length = Math.min(text.length, MAX_UNITS);
    let size = 0;
    let apostrophe = -1;
    let run = SEPARATOR;
    const finish = (): void => {
      if (apostrophe === size - 1) size = apostrophe;
      if (run === EAST_ASIAN_LETTER) emitEastAsian(0, size);
      else if (apostrophe >= 0 && apostrophe < size) emitContracted(0, size, apostrophe);
      else emitWord(0, size);
      size = 0;
      apostrophe = -1;
      run = SEPARATOR;
    };
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      const kind = classes[unit] as number;
      if (kind === IGNORED) continue;
      if (kind === SEPARATOR || (kind === APOSTROPHE && (run !== LOWER || apostrophe >= 0))) {
        if (run !== SEPARATOR) finish();
        continue;
      }
      const wanted = kind === EAST_ASIAN_LETTER ? EAST_ASIAN_LETTER : LOWER;
      if (run !== SEPARATOR && run !== wanted) finish();
      if (kind === APOSTROPHE) apostrophe = size;
      run = wanted;
      units[size] = folded[unit] as number;
      kinds[size++] = kind;
    }
    if (run !== SEPARATOR) finish();
    return tokens;
  };
}

function endsWith(units: Uint16Array, from: number, ending: Uint16Array): boolean {
  for (let at = 0; at < ending.length; at++) if (units[from + at] !== ending[at]) return false;
  return true;
}

/** End of the part that begins at `start`: before a digit run, a letter run, or the capital that opens a new word. */
function findPartEnd(kinds: Uint8Array, start: number, end: number): number {
  const opening = kinds[start];
  let at = start + 1;
  if (opening === DIGIT) {
    while (at < end && kinds[at] === DIGIT) at++;
    return at;
  }
  if (opening === UPPER && at < end && kinds[at] === UPPER) {
    while (at < end && kinds[at] === UPPER) at++;
    return at < end && kinds[at] === LOWER ? (at - start > 1 ? at - 1 : at) : at;
  }
  while (at < end && kinds[at] === LOWER) at++;
  return at;
}
