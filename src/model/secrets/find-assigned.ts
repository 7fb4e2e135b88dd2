import { codesOf, type TextCodes } from "../text-codes.ts";
import { isWhiteSpace } from "../white-space.ts";
import { type FoundSecret, standsAt } from "./found-secret.ts";
import { isSecretValue } from "./secret-value.ts";
import { Triples } from "./triples.ts";

/** The initial of all words for passwords, and otherwise only of "private". */
const LETTER_P = 0x70;
const [AMPERSAND, HYPHEN, QUESTION_MARK] = [0x26, 0x2d, 0x3f] as const;
const NAME_BEFORE = 40;
/** Values checked within one unbroken run of characters; more assignments than this are not secrets. */
const MAX_TRIES = 3;
/** Minimum length of a value whose name does not mention a password. */
const MIN_VALUE = 12;
/** Values up to this length cost no more to check than their names. */
const SHORT_VALUE = 32;

/** Finds values assigned to secret-like names: in environment files, headers, JSON, code, URLs and flags. */
export function findAssigned(text: string, codes = codesOf(text)): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  /** End of the run of the last long value, and the number of values checked in it. */
  let longEnd = 0;
  let tries = 0;
  /** End of the name that contains the last word. */
  let nameEnd = 0;
  let next = 0;
  for (
    let wordAt = nextSecretWord(codes, text.length, 0);
    wordAt >= 0;
    wordAt = nextSecretWord(codes, text.length, next)
  ) {
    const wordEnd = endOfSecretWord(codes, wordAt);
    next = wordEnd < 0 ? wordAt + 1 : wordEnd;
    if (wordEnd < 0) continue;
    if (wordAt >= longEnd) tries = 0;
    if (tries >= MAX_TRIES) continue;
    if (nameEnd < wordEnd) nameEnd = findNameEnd(codes, wordEnd);
    if (nameEnd - wordEnd > MAX_NAME) continue;
    const nameAt = findNameStart(codes, wordAt);
    const assigned = scanAssignment(text, codes, wordEnd, findStyle(codes, nameAt));
    if (!assigned) continue;
    const { value, from, isQuoted } = assigned;
    if (value.length < MIN_VALUE && ((codes[wordAt] as number) | 0x20) !== LETTER_P) continue;
    const name = readName(text, nameAt, wordEnd) + assigned.rest;
    if (isSecretValue({ name, value, isQuoted })) {
      found.push({ kind: findKind(name, value), from, to: from + value.length, isCertain: false });
      next = from + value.length;
    } else if (value.length > SHORT_VALUE) {
      longEnd = findRunEnd(codes, Math.max(longEnd, from + value.length));
      tries++;
    }
  }
  return found;
}

function findNameEnd(codes: TextCodes, from: number): number {
  let end = from;
  while (isNameCode(codes[end] as number)) end++;
  return end;
}

function findRunEnd(codes: TextCodes, from: number): number {
  let end = from;
  while ((codes[end] as number) > 0x20) end++;
  return end;
}

function findNameStart(codes: TextCodes, wordAt: number): number {
  let from = wordAt;
  while (from > 0 && wordAt - from < NAME_BEFORE && isNameCode(codes[from - 1] as number)) from--;
  return from;
}

/** The notation of the value whose name begins at `nameAt`. */
function findStyle(codes: TextCodes, nameAt: number): AssignmentStyle {
  if ((codes[nameAt] as number) === HYPHEN && (codes[nameAt + 1] as number) === HYPHEN) return "flag";
  const before = nameAt === 0 ? 0 : (codes[nameAt - 1] as number);
  return before === QUESTION_MARK || before === AMPERSAND ? "query" : "plain";
}

/** The name up to the end of its word, without a flag's hyphens or the letter of a preceding escape. */
function readName(text: string, nameAt: number, wordEnd: number): string {
  const name = text.slice(nameAt, wordEnd);
  const isEscape = text.charAt(nameAt - 1) === "\\" && /^[nrt]/.test(name);
  const bare = isEscape ? name.slice(1) : name;
  return bare.startsWith("-") ? bare.replace(/^-+/, "") : bare;
}

function findKind(name: string, value: string): string {
  if (value.length === 40 && /aws|secret_?access_?key/i.test(name)) return "aws-secret-key";
  if (value.endsWith("==") && /account_?key/i.test(name)) return "azure-storage-key";
  if (/pass|pwd/i.test(name)) return "password";
  if (/^[A-Z][A-Z0-9_]+$/.test(name)) return "env-secret";
  return /key/i.test(name) ? "api-key" : "secret";
}

/** Words in the names of secrets, and words that count only with "key" after them. */
const WHOLE = ["password", "passwd", "passphrase", "pwd", "secret", "token", "credential"];
const BEFORE_KEY =
  "api access private auth encryption signing account master service app deploy client license subscription".split(
    " ",
  );
const PASS = "pass";
const KEY = "key";
const UNDERSCORE = 0x5f;

const ALL = [...WHOLE, ...BEFORE_KEY, PASS];
const GROUPS = [...Map.groupBy(ALL, (word) => word.slice(0, 3)).values()];
const BEGINNINGS = new Triples(GROUPS.map(([word = ""], index) => [word, index + 1]));
const IS_KEY: ReadonlySet<string> = new Set(BEFORE_KEY);

/** The next position from `from` on at which a secret-like word may begin; -1 if there is none. */
function nextSecretWord(codes: TextCodes, length: number, from: number): number {
  return BEGINNINGS.next(codes, length, from);
}

/** The end of the secret-like word at a position; -1 if there is none. */
function endOfSecretWord(codes: TextCodes, at: number): number {
  for (const word of GROUPS[BEGINNINGS.numberAt(codes, at) - 1] ?? []) {
    if (!standsAt(codes, at, word)) continue;
    const end = at + word.length;
    if (word === PASS) return isPassAt(codes, at) ? end : -1;
    if (!IS_KEY.has(word)) return end;
    const key = isJoint(codes[end] as number) ? end + 1 : end;
    if (standsAt(codes, key, KEY)) return key + KEY.length;
  }
  return -1;
}

function isJoint(code: number): boolean {
  return code === UNDERSCORE || code === HYPHEN;
}

/** "pass" counts only after an underscore and at the end of a word: DB_PASS. */
function isPassAt(codes: TextCodes, at: number): boolean {
  const after = (codes[at + PASS.length] as number) | 0x20;
  return at > 0 && (codes[at - 1] as number) === UNDERSCORE && !(after >= 0x61 && after <= 0x7a);
}

/** Maximum length of a name after its secret-like word. */
const MAX_NAME = 40;
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
type AssignmentStyle = "plain" | "flag" | "query";

/**
 * Scans the value assigned to a name: `_NAME="value"`, `'name': value`, `name => value`, `--name value`,
 * `?name=value&`. Reads each character once, because backtracking patterns are slow on adversarial texts.
 */
function scanAssignment(
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

const [TAB, SPACE, COLON] = [0x09, 0x20, 0x3a] as const;
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
function isNameCode(code: number): boolean {
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
