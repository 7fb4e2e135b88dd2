import { toUnits, withUnits } from "./text-units.ts";

/** Classes of the characters in names, paths, numbers and hashes. TELLING characters mark a run as an identifier. */
const LOWER = 1;
const UPPER = 2;
const TELLING = 3;
const DOT = 4;
const OTHER = 5;
/** The class of every unit, and `DIVIDING` for those that divide a run; 0 for units outside of runs. */
const KINDS = new Uint8Array(65_536);
const KIND_MASK = 7;
const DIVIDING = 8;
for (const character of "abcdefghijklmnopqrstuvwxyz") KINDS[character.charCodeAt(0)] = LOWER;
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") KINDS[character.charCodeAt(0)] = UPPER;
for (const character of "0123456789_") KINDS[character.charCodeAt(0)] = TELLING;
KINDS["$".charCodeAt(0)] = OTHER;
for (const character of "@~+-") KINDS[character.charCodeAt(0)] = OTHER | DIVIDING;
KINDS["/".charCodeAt(0)] = TELLING | DIVIDING;
KINDS[".".charCodeAt(0)] = DOT | DIVIDING;
/** One for each digit, and in the bits above it for each letter and each lower letter of a hexadecimal number. */
const COUNTS = new Int32Array(65_536);
const COUNT_BITS = 10;
const COUNT_MASK = (1 << COUNT_BITS) - 1;
for (const character of "0123456789") COUNTS[character.charCodeAt(0)] = 1;
for (let unit = 0; unit < 128; unit++)
  if (KINDS[unit] === LOWER || KINDS[unit] === UPPER) COUNTS[unit] = 1 << COUNT_BITS;
for (const character of "abcdef")
  COUNTS[character.charCodeAt(0)] = (1 << COUNT_BITS) | (1 << (2 * COUNT_BITS));

/**
 * States of a run: after a lower or an upper letter, after a dot that follows a letter, and once it has the sign of a
 * name: a telling character, a capital inside a word, a dot between words.
 */
const AFTER_LOWER = 1;
const AFTER_UPPER = 2;
const AFTER_DOT = 3;
const SIGNED = 4;
/** The next state, by eight times the state plus the class. */
const NEXT_STATES = Uint8Array.from(
  [
    { [LOWER]: AFTER_LOWER, [UPPER]: AFTER_UPPER, [TELLING]: SIGNED },
    { [LOWER]: AFTER_LOWER, [UPPER]: SIGNED, [TELLING]: SIGNED, [DOT]: AFTER_DOT },
    { [LOWER]: AFTER_LOWER, [UPPER]: AFTER_UPPER, [TELLING]: SIGNED, [DOT]: AFTER_DOT },
    { [LOWER]: SIGNED, [UPPER]: SIGNED, [TELLING]: SIGNED },
    { [LOWER]: SIGNED, [UPPER]: SIGNED, [TELLING]: SIGNED, [DOT]: SIGNED, [OTHER]: SIGNED },
  ].flatMap((next: { readonly [kind: number]: number }) =>
    Array.from({ length: 8 }, (_, kind) => next[kind] ?? 0),
  ),
);
const SLASH = 0x2f;
const DOT_CODE = 0x2e;
const MIN_RUN = 4;
const MAX_RUN = 300;

/** Receives an identifier; `isWhole` is false for one found inside another identifier. */
type IdentifierListener = (identifier: string, isWhole: boolean) => void;

/** Like `IdentifierListener`, with the identifier as a range of units, which are valid only during the call. */
type RangeListener = (units: Uint16Array, from: number, to: number, isWhole: boolean) => void;

/**
 * Reports the identifiers of a text: paths, symbols, long numbers, hashes. With `isWide`, also the names a search would
 * find inside them: the ends of paths and the pieces of dotted names.
 */
export function scanIdentifiers(text: string, isWide: boolean, tell: IdentifierListener): void {
  withUnits(text, (own, length) => {
    scanUnits(own, 0, length, isWide, (units, from, to, isWhole) =>
      tell(units === own ? text.slice(from, to) : String.fromCharCode(...units), isWhole),
    );
  });
}

/** Reports the identifiers among the units from `start` up to `end` as ranges of them. */
export function scanUnits(
  units: Uint16Array,
  start: number,
  end: number,
  isWide: boolean,
  tell: RangeListener,
): void {
  let from = start;
  let state = 0;
  let seen = 0;
  for (let at = start; at <= end; at++) {
    const kind = at < end ? (KINDS[units[at] as number] as number) : 0;
    if (kind !== 0) {
      state = NEXT_STATES[(state << 3) | (kind & KIND_MASK)] as number;
      seen |= kind;
      continue;
    }
    if (state === SIGNED && at - from >= MIN_RUN && at - from <= MAX_RUN) {
      if (seen >= DIVIDING) scanRun(units, from, at, isWide, tell);
      else if (isName(units, from, at)) tell(units, from, at, true);
    }
    from = at + 1;
    state = 0;
    seen = 0;
  }
}

/** True for characters that join words: all of OTHER but the dollar sign. */
function isJoint(code: number): boolean {
  return KINDS[code] === (OTHER | DIVIDING);
}

/** Only called for runs that may contain a name; most runs are natural language and are skipped. */
function scanRun(
  units: Uint16Array,
  runFrom: number,
  runTo: number,
  isWide: boolean,
  tell: RangeListener,
): void {
  const from = skipStart(units, runFrom, runTo);
  const to = skipEnd(units, from, runTo);
  let isPath = false;
  for (let at = from; at < to && !isPath; at++) isPath = units[at] === SLASH;
  if (isPath) {
    scanPath(units, from, to, isWide, tell);
    return;
  }
  let start = from;
  for (let at = from; at <= to; at++) {
    if (at < to && !isJoint(units[at] as number)) continue;
    scanDottedName(units, start, at, true, isWide, tell);
    start = at + 1;
  }
}

/** No name begins with a joint, a dot or the path of the current folder. */
function skipStart(units: Uint16Array, from: number, to: number): number {
  let at = from;
  for (; at < to; at++) {
    const code = units[at] as number;
    if (code === DOT_CODE && at + 1 < to && units[at + 1] === SLASH) at++;
    else if (code !== DOT_CODE && !isJoint(code)) break;
  }
  return at;
}

/** No name ends with a joint, a dot or a slash. */
function skipEnd(units: Uint16Array, from: number, to: number): number {
  let at = to;
  for (; at > from; at--) {
    const code = units[at - 1] as number;
    if (code !== DOT_CODE && code !== SLASH && !isJoint(code)) break;
  }
  return at;
}

function scanPath(units: Uint16Array, from: number, to: number, isWide: boolean, tell: RangeListener): void {
  if (to - from < 5 || !hasWord(units, from, to)) return;
  tell(units, from, to, true);
  if (!isWide) return;
  let last = to - 1;
  while (units[last] !== SLASH) last--;
  let isDoubled = false;
  for (let at = from; at < to - 1 && !isDoubled; at++)
    isDoubled = units[at] === SLASH && units[at + 1] === SLASH;
  if (isDoubled) tellEnds(units, from, to, tell);
  else for (let at = from; at < last; at++) if (units[at] === SLASH) tell(units, at + 1, to, false);
  let start = from;
  for (let at = from; at <= to; at++) {
    if (at < to && units[at] !== SLASH) continue;
    scanDottedName(units, start, at, false, true, tell);
    start = at + 1;
  }
}

/** Reports the ends of a path with empty pieces, without these; mostly they stand at its beginning, as in an address. */
function tellEnds(units: Uint16Array, from: number, to: number, tell: RangeListener): void {
  let doubled = from;
  let last = from;
  for (let at = from; at < to; at++) {
    if (units[at] !== SLASH) continue;
    last = at + 1;
    if (at + 1 < to && units[at + 1] === SLASH) doubled = at + 1;
  }
  let isFirst = true;
  for (let at = from; at < last; at++) {
    if (units[at] === SLASH || (at > from && units[at - 1] !== SLASH)) continue;
    if (isFirst) isFirst = false;
    else if (at > doubled) tell(units, at, to, false);
    else {
      const end = String.fromCharCode(...units.subarray(at, to)).split("/");
      const joined = toUnits(end.filter((piece) => piece !== "").join("/"));
      tell(joined, 0, joined.length, false);
    }
  }
}

/** True if two letters stand next to each other. */
function hasWord(units: Uint16Array, from: number, to: number): boolean {
  let letters = 0;
  for (let at = from; at < to; at++) {
    const kind = KINDS[units[at] as number];
    letters = kind === LOWER || kind === UPPER ? letters + 1 : 0;
    if (letters === 2) return true;
  }
  return false;
}

function scanDottedName(
  units: Uint16Array,
  pieceFrom: number,
  pieceTo: number,
  isWhole: boolean,
  isWide: boolean,
  tell: RangeListener,
): void {
  // Names have at least this length.
  if (pieceTo - pieceFrom < MIN_RUN) return;
  let from = pieceFrom;
  let to = pieceTo;
  while (from < to && units[from] === DOT_CODE) from++;
  while (to > from && units[to - 1] === DOT_CODE) to--;
  if (isName(units, from, to)) tell(units, from, to, isWhole);
  if (!isWide) return;
  let start = from;
  for (let at = from; at <= to; at++) {
    if (at < to && units[at] !== DOT_CODE) continue;
    // A name without a dot has only one piece.
    if (start === from && at === to) return;
    if (isName(units, start, at)) tell(units, start, at, false);
    if (start !== from && at !== to && isName(units, start, to)) tell(units, start, to, false);
    start = at + 1;
  }
}

/**
 * True for a number of at least four digits, a hash, or a word with a feature that is typical of names in code and rare
 * in natural language: an underscore, a digit, camel case, an inner dot. A single pass over the characters, which have
 * no slash.
 */
function isName(units: Uint16Array, from: number, to: number): boolean {
  let counts = 0;
  let state = 0;
  for (let at = from; at < to; at++) {
    const unit = units[at] as number;
    counts += COUNTS[unit] as number;
    state = NEXT_STATES[(state << 3) | ((KINDS[unit] as number) & KIND_MASK)] as number;
  }
  const digits = counts & COUNT_MASK;
  const letters = (counts >> COUNT_BITS) & COUNT_MASK;
  const hexLetters = counts >> (2 * COUNT_BITS);
  const length = to - from;
  if (digits === length) return digits >= 4;
  if (length >= 5 && letters > 0 && state === SIGNED) return true;
  const isHex = digits + hexLetters === length && digits > 0 && hexLetters > 0;
  return isHex && length >= 7 && length <= 64;
}
