import { toUnits, withUnits } from "./text-units.ts";

/** Classes of the characters in names, paths, numbers and hashes. TELLING characters mark a run as an identifier. */
const [LOWER, UPPER, TELLING, DOT, OTHER] = [1, 2, 3, 4, 5];
const KINDS = new Uint8Array(128);
for (const character of "abcdefghijklmnopqrstuvwxyz") KINDS[character.charCodeAt(0)] = LOWER;
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") KINDS[character.charCodeAt(0)] = UPPER;
for (const character of "0123456789_/") KINDS[character.charCodeAt(0)] = TELLING;
for (const character of "$@~+-") KINDS[character.charCodeAt(0)] = OTHER;
KINDS[".".charCodeAt(0)] = DOT;
const SLASH = 0x2f;
const DOT_CODE = 0x2e;
const DOLLAR = 0x24;
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
    scanUnits(own, length, isWide, (units, from, to, isWhole) =>
      tell(units === own ? text.slice(from, to) : String.fromCharCode(...units), isWhole),
    );
  });
}

/** Reports the identifiers among units as ranges of them. */
export function scanUnits(units: Uint16Array, length: number, isWide: boolean, tell: RangeListener): void {
  let from = 0;
  let hasSign = false;
  let before = 0;
  let twoBefore = 0;
  for (let at = 0; at <= length; at++) {
    const kind = at < length ? getKind(units[at] as number) : 0;
    if (kind === 0) {
      if (hasSign && at - from >= MIN_RUN && at - from <= MAX_RUN) scanRun(units, from, at, isWide, tell);
      from = at + 1;
      hasSign = false;
      before = 0;
    } else if (
      kind === TELLING ||
      (kind === UPPER && before === LOWER) ||
      (before === DOT && isWordKind(twoBefore) && isWordKind(kind))
    )
      hasSign = true;
    twoBefore = before;
    before = kind;
  }
}

function getKind(code: number): number {
  return code < 128 ? (KINDS[code] as number) : 0;
}

function isWordKind(kind: number): boolean {
  return kind === LOWER || kind === UPPER || kind === TELLING;
}

/** True for characters that join words: all of OTHER but the dollar sign. */
function isJoint(code: number): boolean {
  return code !== DOLLAR && getKind(code) === OTHER;
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
  const starts = [from];
  let isDoubled = false;
  for (let at = from; at < to; at++) {
    if (units[at] !== SLASH) continue;
    if (units[at + 1] === SLASH && at + 1 < to) isDoubled = true;
    starts.push(at + 1);
  }
  const ends = starts.map((_, index) => (index + 1 < starts.length ? (starts[index + 1] as number) - 1 : to));
  if (isDoubled) tellEnds(units, starts, ends, tell);
  else
    for (let piece = 1; piece < starts.length - 1; piece++) tell(units, starts[piece] as number, to, false);
  for (const [index, start] of starts.entries())
    scanDottedName(units, start, ends[index] as number, false, true, tell);
}

/** Reports the ends of a path with empty pieces, without these. */
function tellEnds(
  units: Uint16Array,
  starts: readonly number[],
  ends: readonly number[],
  tell: RangeListener,
): void {
  const pieces = starts.flatMap((start, index) => {
    const end = ends[index] as number;
    return end > start ? [String.fromCharCode(...units.subarray(start, end))] : [];
  });
  for (let from = 1; from < pieces.length - 1; from++) {
    const joined = toUnits(pieces.slice(from).join("/"));
    tell(joined, 0, joined.length, false);
  }
}

/** True if two letters stand next to each other. */
function hasWord(units: Uint16Array, from: number, to: number): boolean {
  let letters = 0;
  for (let at = from; at < to; at++) {
    const kind = getKind(units[at] as number);
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
    // Without a dot, the name is its only piece.
    if (start === from && at === to) return;
    if (isName(units, start, at)) tell(units, start, at, false);
    if (start !== from && at !== to && isName(units, start, to)) tell(units, start, to, false);
    start = at + 1;
  }
}

/**
 * True for a number of at least four digits, a hash, or a word with a feature that is typical of names in code and rare
 * in natural language: an underscore, a digit, camel case, an inner dot. A single pass over the characters.
 */
function isName(units: Uint16Array, from: number, to: number): boolean {
  let digits = 0;
  let letters = 0;
  let hexLetters = 0;
  let isShaped = false;
  let before = 0;
  let twoBefore = 0;
  for (let at = from; at < to; at++) {
    const code = units[at] as number;
    const kind = getKind(code);
    if (code >= 0x30 && code <= 0x39) digits++;
    else if (kind === LOWER || kind === UPPER) letters++;
    if (code >= 0x61 && code <= 0x66) hexLetters++;
    const isTelling = kind === TELLING && code !== SLASH;
    const isHump = kind === UPPER && before === LOWER;
    if (isTelling || isHump || (before === DOT && isWordKind(twoBefore) && isWordKind(kind))) isShaped = true;
    twoBefore = before;
    before = code === SLASH ? OTHER : kind;
  }
  const length = to - from;
  if (digits === length) return digits >= 4;
  if (length >= 5 && letters > 0 && isShaped) return true;
  const isHex = digits + hexLetters === length && digits > 0 && hexLetters > 0;
  return isHex && length >= 7 && length <= 64;
}
