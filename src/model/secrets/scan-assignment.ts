import type { TextCodes } from "../text-codes.ts";
import { isWhiteSpace } from "../white-space.ts";

/** Maximum length of a name after its secret-like word. */
export const MAX_NAME = 40;
const MAX_VALUE = 512;
const MAX_SPACES = 4;

/** An assignment, scanned from the secret-like word of its name. */
interface ScannedAssignment {
  /** The rest of the name. */
  readonly rest: string;
  readonly value: string;
  /** Start of the value. */
  readonly from: number;
  readonly isQuoted: boolean;
}

/** Notation of the value, determined by the characters before the name. */
export type AssignmentStyle = "plain" | "flag" | "query";

/**
 * Scans the value assigned to a name: `_NAME="value"`, `'name': value`, `name => value`, `--name value`,
 * `?name=value&`. Reads each character once, because backtracking patterns are slow on adversarial texts.
 */
export function scanAssignment(
  text: string,
  codes: TextCodes,
  wordEnd: number,
  style: AssignmentStyle,
): ScannedAssignment | undefined {
  let at = wordEnd;
  while (at - wordEnd < MAX_NAME && isNameCode(codes[at] as number)) at++;
  const range = rangeAfter(codes, at, style);
  if (!range) return undefined;
  const { from, to, isQuoted } = range;
  return { rest: text.slice(wordEnd, at), value: text.slice(from, to), from, isQuoted };
}

/** The range of a value, without its quotes. */
interface ValueRange {
  readonly from: number;
  readonly to: number;
  readonly isQuoted: boolean;
}

function rangeAfter(codes: TextCodes, nameEnd: number, style: AssignmentStyle): ValueRange | undefined {
  if (style === "query")
    return (codes[nameEnd] as number) === EQUALS ? scanUnquoted(codes, nameEnd + 1, isQueryEnd) : undefined;
  const value = skipSeparator(codes, nameEnd);
  const assigned = value < 0 ? undefined : scanValue(codes, value);
  if (assigned || style !== "flag") return assigned;
  const flagged = skipSpaces(codes, nameEnd);
  if (flagged === nameEnd || (codes[flagged] as number) === HYPHEN) return undefined;
  return scanQuoted(codes, flagged, 0) ?? scanUnquoted(codes, flagged, isValueEnd);
}

const [TAB, SPACE, HYPHEN, COLON] = [0x09, 0x20, 0x2d, 0x3a] as const;
const [EQUALS, GREATER, BACKSLASH, BRACKET] = [0x3d, 0x3e, 0x5c, 0x5d] as const;

/**
 * The start of a value after "=", ":", ":=" or "=>", which a quote, a bracket and spaces may precede; -1 if nothing is
 * assigned.
 */
function skipSeparator(codes: TextCodes, from: number): number {
  let at = skipBackslashes(codes, from);
  if (isQuote(codes[at] as number)) at++;
  if ((codes[at] as number) === BRACKET) at++;
  at = skipSpaces(codes, at);
  const [first, second] = [codes[at] as number, codes[at + 1] as number];
  if (first !== EQUALS && first !== COLON) return -1;
  if (second === (first === EQUALS ? GREATER : EQUALS)) return skipSpaces(codes, at + 2);
  return second === EQUALS || second === COLON ? -1 : skipSpaces(codes, at + 1);
}

function scanValue(codes: TextCodes, from: number): ValueRange | undefined {
  const at = skipBackslashes(codes, from);
  return (
    scanQuoted(codes, at, at - from) ?? (at === from ? scanUnquoted(codes, from, isValueEnd) : undefined)
  );
}

/** A quoted value; the closing quote may be missing, because texts may be truncated. */
function scanQuoted(codes: TextCodes, at: number, escapes: number): ValueRange | undefined {
  if (!isQuote(codes[at] as number)) return undefined;
  const last = Math.min(codes.length - 1, at + MAX_VALUE + 1);
  let end = at + 1;
  for (; end < last; end++) {
    const code = codes[end] as number;
    if (code === 0 || code === 0x0d || code === 0x0a || isQuote(code)) break;
    if (code === BACKSLASH && isQuote(codes[end + 1] as number)) break;
  }
  // Inside a string literal, the closing quote is escaped like the opening one.
  while (escapes > 0 && end > at + 1 && (codes[end - 1] as number) === BACKSLASH) end--;
  return end === at + 1 ? undefined : { from: at + 1, to: end, isQuoted: true };
}

function scanUnquoted(
  codes: TextCodes,
  from: number,
  isEnd: (code: number) => boolean,
): ValueRange | undefined {
  let to = from;
  const last = Math.min(codes.length - 1, from + MAX_VALUE);
  while (to < last && !isEnd(codes[to] as number)) to++;
  return to === from ? undefined : { from, to, isQuoted: false };
}

function skipBackslashes(codes: TextCodes, from: number): number {
  let at = from;
  while (at - from < 2 && (codes[at] as number) === BACKSLASH) at++;
  return at;
}

function skipSpaces(codes: TextCodes, from: number): number {
  let at = from;
  for (; at - from < MAX_SPACES; at++) {
    const code = codes[at] as number;
    if (code !== SPACE && code !== TAB) break;
  }
  return at;
}

/** Letters, digits, "_" and "-". */
export function isNameCode(code: number): boolean {
  if (code >= 0x30 && code <= 0x39) return true;
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code === 0x2d;
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60;
}

const VALUE_ENDS = buildTable("\0 \t\r\n\v\f\"'`,;\\)}]");
const QUERY_ENDS = buildTable("&#<>");
function buildTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

function isValueEnd(code: number): boolean {
  return code < 128 ? VALUE_ENDS[code] === 1 : isWhiteSpace(code);
}

function isQueryEnd(code: number): boolean {
  return (code < 128 && QUERY_ENDS[code] === 1) || isValueEnd(code);
}
