/** Maximum length of a name after its secret-like word. */
export const MAX_NAME = 40;
const MAX_VALUE = 512;
const MAX_SPACES = 4;

/** An assignment, scanned from the secret-like word of its name. */
export interface ScannedAssignment {
  /** The rest of the name. */
  readonly rest: string;
  readonly value: string;
  /** Start of the value. */
  readonly from: number;
  readonly isQuoted: boolean;
}

/** Notation of the value, determined by the characters before the name. */
export type Style = "plain" | "flag" | "query";

/**
 * Scans the value assigned to a name: `_NAME="value"`, `'name': value`, `name => value`, `--name value`,
 * `?name=value&`. Reads each character once, because backtracking patterns are slow on adversarial texts.
 */
export function scanAssignment(text: string, wordEnd: number, style: Style): ScannedAssignment | undefined {
  let at = wordEnd;
  while (at - wordEnd < MAX_NAME && isNameCode(text.charCodeAt(at))) at++;
  const rest = text.slice(wordEnd, at);
  if (style === "query")
    return text.charAt(at) === "=" ? unquoted(text, at + 1, rest, isQueryEnd) : undefined;
  const value = skipSeparator(text, at);
  const assigned = value === undefined ? undefined : valueAt(text, value, rest);
  if (assigned || style !== "flag") return assigned;
  const flagged = skipSpaces(text, at);
  if (flagged === at || text.charAt(flagged) === "-") return undefined;
  return quoted(text, flagged, rest, 0) ?? unquoted(text, flagged, rest, isValueEnd);
}

/** Skips the separator between name and value: "=", ":", ":=" or "=>", with a preceding quote and spaces. */
function skipSeparator(text: string, from: number): number | undefined {
  let at = from;
  for (let count = 0; count < 2 && text.charAt(at) === "\\"; count++) at++;
  if (isQuote(text.charAt(at))) at++;
  if (text.charAt(at) === "]") at++;
  at = skipSpaces(text, at);
  const two = text.slice(at, at + 2);
  if (two === "=>" || two === ":=") return skipSpaces(text, at + 2);
  const isOne = (two[0] === "=" || two[0] === ":") && two[1] !== "=" && two[1] !== ":";
  return isOne ? skipSpaces(text, at + 1) : undefined;
}

function valueAt(text: string, from: number, rest: string): ScannedAssignment | undefined {
  let at = from;
  for (let count = 0; count < 2 && text.charAt(at) === "\\"; count++) at++;
  return (
    quoted(text, at, rest, at - from) ?? (at === from ? unquoted(text, from, rest, isValueEnd) : undefined)
  );
}

/** A quoted value; the closing quote may be missing in a truncated text. */
function quoted(text: string, at: number, rest: string, escapes: number): ScannedAssignment | undefined {
  if (!isQuote(text.charAt(at))) return undefined;
  let end = at + 1;
  while (end - at <= MAX_VALUE) {
    const character = text.charAt(end);
    if (character === "" || character === "\r" || character === "\n" || isQuote(character)) break;
    if (character === "\\" && isQuote(text.charAt(end + 1))) break;
    end++;
  }
  // Inside a string literal the closing quote has the same escapes as the opening one.
  while (escapes > 0 && end > at + 1 && text.charAt(end - 1) === "\\") end--;
  if (end === at + 1) return undefined;
  return { rest, value: text.slice(at + 1, end), from: at + 1, isQuoted: true };
}

function unquoted(
  text: string,
  from: number,
  rest: string,
  isEnd: (code: number) => boolean,
): ScannedAssignment | undefined {
  let end = from;
  const most = Math.min(text.length, from + MAX_VALUE);
  while (end < most && !isEnd(text.charCodeAt(end))) end++;
  return end === from ? undefined : { rest, value: text.slice(from, end), from, isQuoted: false };
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at - from < MAX_SPACES && (text.charAt(at) === " " || text.charAt(at) === "\t")) at++;
  return at;
}

/** Letters, digits, "_" and "-". */
export function isNameCode(code: number): boolean {
  if (code >= 0x30 && code <= 0x39) return true;
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code === 0x2d;
}

function isQuote(character: string): boolean {
  return character === '"' || character === "'" || character === "`";
}

const VALUE_ENDS = tableOf(" \t\r\n\v\f\"'`,;\\)}]");
const QUERY_ENDS = tableOf("&#<>");
const OTHER_SPACES: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
  0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
]);

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

function isValueEnd(code: number): boolean {
  return code < 128 ? VALUE_ENDS[code] === 1 : code >= 0xa0 && OTHER_SPACES.has(code);
}

function isQueryEnd(code: number): boolean {
  return QUERY_ENDS[code] === 1 || isValueEnd(code);
}
