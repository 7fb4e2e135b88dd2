import { isWhiteSpace } from "../../model/white-space.ts";

const [HASH, RIGHT_BRACKET, ASTERISK, HYPHEN, DOT, GREATER] = [0x23, 0x29, 0x2a, 0x2d, 0x2e, 0x3e] as const;
const [BULLET, COMMA] = [0x2022, 0x3001] as const;
const CHECKBOX = /\[[ xX]\]/y;

/** Where the line between two places goes on after the marks of headings, quotes, lists and boxes to check. */
export function skipMarks(text: string, from: number, end: number): number {
  let at = from;
  for (let next = skipMark(text, at, end); next > at; next = skipMark(text, at, end)) at = next;
  return at;
}

/** The place after the mark at a place and its spaces; the same place if there is none. */
function skipMark(text: string, at: number, end: number): number {
  const code = codeAt(text, at, end);
  if (code === GREATER) return skipSpaces(text, at + 1, end);
  if (code === HYPHEN || code === ASTERISK || code === BULLET) {
    const after = skipSpaces(text, at + 1, end);
    return after === at + 1 ? at : skipCheckbox(text, after, end);
  }
  let place = at;
  if (code === HASH) while (codeAt(text, place, end) === HASH && place - at < 6) place++;
  else if (isDigit(code)) {
    while (isDigit(codeAt(text, place, end)) && place - at < 3) place++;
    if (!isAfterNumber(codeAt(text, place, end))) return at;
    place++;
  } else return at;
  const after = skipSpaces(text, place, end);
  return after === place ? at : after;
}

function skipCheckbox(text: string, at: number, end: number): number {
  if (at + 3 > end || text[at] !== "[") return at;
  CHECKBOX.lastIndex = at;
  return CHECKBOX.test(text) ? skipSpaces(text, at + 3, end) : at;
}

function skipSpaces(text: string, from: number, end: number): number {
  let at = from;
  while (isWhiteSpace(codeAt(text, at, end))) at++;
  return at;
}

function isAfterNumber(code: number): boolean {
  return code === DOT || code === RIGHT_BRACKET || code === COMMA;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The code at a place; 0 after the end. */
function codeAt(text: string, at: number, end: number): number {
  return at < end ? text.charCodeAt(at) : 0;
}
