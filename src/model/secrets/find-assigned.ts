import { codesOf, type TextCodes } from "../text-codes.ts";
import type { FoundSecret } from "./found-secret.ts";
import { type AssignmentStyle, isNameCode, MAX_NAME, scanAssignment } from "./scan-assignment.ts";
import { isSecretValue } from "./secret-value.ts";
import { endOfSecretWord, nextSecretWord } from "./secret-word.ts";

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
