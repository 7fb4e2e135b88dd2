import { MAX_VERBATIM, MIN_VERBATIM } from "./verbatim-line.ts";

const NEWLINE = 0x0a;
const TAB = 0x09;
const COLON = 0x3a;
const BAR = 0x7c;
const ARROW = 0x2192;
const PLUS = 0x2b;
const MINUS = 0x2d;

/** Units that `trim` removes, and units that `\w` matches. */
const SPACES = new Uint8Array(65_536);
const WORDS = new Uint8Array(65_536);
for (let unit = 0; unit < 65_536; unit++) {
  const character = String.fromCharCode(unit);
  if (/\s/.test(character)) SPACES[unit] = 1;
  if (/\w/.test(character)) WORDS[unit] = 1;
}

/**
 * Calls a function with the range of each line among the units of a text, stripped like `stripLine`, and the place where
 * the whole line ends.
 */
export function forEachBareLine(
  units: Uint16Array,
  length: number,
  read: (from: number, to: number, end: number) => void,
): void {
  for (let start = 0; start <= length; ) {
    let end = start;
    while (end < length && units[end] !== NEWLINE) end++;
    let from = skipDiffMark(units, skipLineNumber(units, start, end), end);
    let to = end;
    while (from < to && SPACES[units[from] as number] === 1) from++;
    while (to > from && SPACES[units[to - 1] as number] === 1) to--;
    read(from, to, end);
    start = end + 1;
  }
}

function skipLineNumber(units: Uint16Array, start: number, end: number): number {
  let at = start;
  while (at < end && SPACES[units[at] as number] === 1) at++;
  const digits = at;
  while (at < end && isDigit(units[at] as number)) at++;
  if (at === digits || at === end) return start;
  const mark = units[at];
  return mark === ARROW || mark === TAB || mark === COLON || mark === BAR ? at + 1 : start;
}

function skipDiffMark(units: Uint16Array, at: number, end: number): number {
  if (at >= end || !isSign(units[at] as number)) return at;
  return at + 1 < end && isSign(units[at + 1] as number) ? at : at + 1;
}

/** Like `isVerbatim`, for a bare line among units. */
export function isVerbatimRange(units: Uint16Array, from: number, to: number): boolean {
  if (to - from < MIN_VERBATIM || to - from > MAX_VERBATIM) return false;
  for (let at = from, count = 0; at < to; at++) {
    count = WORDS[units[at] as number] === 1 ? count + 1 : 0;
    if (count === 3) return true;
  }
  return false;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isSign(unit: number): boolean {
  return unit === PLUS || unit === MINUS;
}
