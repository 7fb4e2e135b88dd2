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

/** Character classes of the tokenizer. The ranges are fixed, so that all machines and Unicode versions agree. */
const SEPARATOR = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const EAST_ASIAN_LETTER = 4;
const IGNORED = 5;
const APOSTROPHE = 6;

const LETTER_RANGES: readonly (readonly [number, number])[] = [
  [0x61, 0x7a],
  [0xaa, 0xaa],
  [0xb5, 0xb5],
  [0xba, 0xba],
  [0xdf, 0xf6],
  [0xf8, 0x2af],
  [0x370, 0x1fff],
  [0x2c00, 0x2dff],
  [0xa000, 0xa4cf],
  [0xa640, 0xa7ff],
];

const EAST_ASIAN_RANGES: readonly (readonly [number, number])[] = [
  [0x3005, 0x3007],
  [0x3041, 0x3096],
  [0x309d, 0x309f],
  [0x30a1, 0x30fa],
  [0x30fc, 0x30ff],
  [0x3105, 0x312f],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff66, 0xff9d],
];

const IGNORED_RANGES: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x200b, 0x200d],
  [0x2060, 0x2060],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
];

/** Class and folded form of every UTF-16 unit. */
interface LetterTables {
  readonly classes: Uint8Array;
  readonly folded: Uint16Array;
}

/** The tables of the tokenizer; full-width forms fold to ASCII, capitals to lower case. */
function buildLetterTables(): LetterTables {
  const classes = new Uint8Array(0x10000);
  const folded = new Uint16Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit++) folded[unit] = unit;
  fillRanges(classes, LETTER_RANGES, LOWER);
  fillRanges(classes, EAST_ASIAN_RANGES, EAST_ASIAN_LETTER);
  fillRanges(classes, [[0x30, 0x39]], DIGIT);
  for (let unit = 0x41; unit < 0x2000; unit++) {
    const small = String.fromCharCode(unit).toLowerCase().charCodeAt(0);
    if (small === unit || (unit > 0x7f && classes[small] !== LOWER)) continue;
    folded[unit] = small;
    classes[unit] = UPPER;
  }
  fillRanges(classes, IGNORED_RANGES, IGNORED);
  classes[0x27] = APOSTROPHE;
  classes[0x2019] = APOSTROPHE;
  folded[0x2019] = 0x27;
  for (let offset = 0x10; offset <= 0x5a; offset++) {
    const ascii = 0x20 + offset;
    const full = 0xff00 + offset;
    const kind = classes[ascii] as number;
    if (kind !== LOWER && kind !== UPPER && kind !== DIGIT) continue;
    classes[full] = kind;
    folded[full] = folded[ascii] as number;
  }
  return { classes, folded };
}

function fillRanges(classes: Uint8Array, ranges: readonly (readonly [number, number])[], kind: number): void {
  for (const [first, last] of ranges) classes.fill(kind, first, last + 1);
}
