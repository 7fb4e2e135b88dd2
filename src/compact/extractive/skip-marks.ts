import { isWhiteSpace } from "../../model/white-space.ts";

const [HASH, RIGHT_BRACKET, ASTERISK, HYPHEN, DOT, GREATER] = [0x23, 0x29, 0x2a, 0x2d, 0x2e, 0x3e] as const;
const [BULLET, COMMA] = [0x2022, 0x3001] as const;
const CHECKBOX = /\[[ xX]\]/y;

/** Where a line goes on after the marks of headings, quotes, lists and boxes to check that it begins with. */
export function skipMarks(line: string): number {
  let at = 0;
  for (let next = skipMark(line, at); next > at; next = skipMark(line, at)) at = next;
  return at;
}

/** The place after the mark at a place and its spaces; the same place if there is none. */
function skipMark(line: string, at: number): number {
  const code = codeAt(line, at);
  if (code === GREATER) return skipSpaces(line, at + 1);
  if (code === HYPHEN || code === ASTERISK || code === BULLET) {
    const after = skipSpaces(line, at + 1);
    return after === at + 1 ? at : skipCheckbox(line, after);
  }
  let end = at;
  if (code === HASH) while (codeAt(line, end) === HASH && end - at < 6) end++;
  else if (isDigit(code)) {
    while (isDigit(codeAt(line, end)) && end - at < 3) end++;
    if (!isAfterNumber(codeAt(line, end))) return at;
    end++;
  } else return at;
  const after = skipSpaces(line, end);
  return after === end ? at : after;
}

function skipCheckbox(line: string, at: number): number {
  if (line[at] !== "[") return at;
  CHECKBOX.lastIndex = at;
  return CHECKBOX.test(line) ? skipSpaces(line, CHECKBOX.lastIndex) : at;
}

function skipSpaces(line: string, from: number): number {
  let at = from;
  while (isWhiteSpace(codeAt(line, at))) at++;
  return at;
}

function isAfterNumber(code: number): boolean {
  return code === DOT || code === RIGHT_BRACKET || code === COMMA;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The code at a place; 0 after the end. */
function codeAt(line: string, at: number): number {
  return at < line.length ? line.charCodeAt(at) : 0;
}
