import type { FoundSecret } from "./found-secret.ts";
import { isNameCode, MAX_NAME, type Style, scanAssignment } from "./scan-assignment.ts";
import { isSecretValue } from "./secret-value.ts";

/** Words in names of secrets. */
const WORD =
  /passw(?:or)?d|passphrase|passwd|pwd|secret|token|(?:api|access|private|auth|encryption|signing|account|master|service|app|deploy|client|license|subscription)[_-]?key|credential|(?<=_)pass(?![a-z])/gi;
const NAME_BEFORE = 40;
/** Values checked within one unbroken run of characters; more assignments than this are not secrets. */
const MAX_TRIES = 3;
/** Minimum length of a value whose name does not mention a password. */
const MIN_VALUE = 12;
/** Values up to this length cost no more to check than their names. */
const SHORT_VALUE = 32;

/** Finds values assigned to secret-like names in environment files, headers, JSON, code, URLs and flags. */
export function findAssigned(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  /** End of the run of the last long value, and the number of values checked in it. */
  let longEnd = 0;
  let tries = 0;
  /** End of the name that contains the last word. */
  let nameEnd = 0;
  WORD.lastIndex = 0;
  for (let word = WORD.exec(text); word; word = WORD.exec(text)) {
    const [wordAt, wordEnd] = [word.index, WORD.lastIndex];
    if (wordAt >= longEnd) tries = 0;
    if (tries >= MAX_TRIES) continue;
    if (nameEnd < wordEnd) nameEnd = endOfName(text, wordEnd);
    if (nameEnd - wordEnd > MAX_NAME) continue;
    const nameAt = startOfName(text, wordAt);
    const assigned = scanAssignment(text, wordEnd, styleAt(text, nameAt));
    if (!assigned) continue;
    const { value, from, isQuoted } = assigned;
    if (value.length < MIN_VALUE && !/^p/i.test(word[0])) continue;
    const name = nameFrom(text, nameAt, wordEnd) + assigned.rest;
    if (isSecretValue({ name, value, isQuoted })) {
      found.push({ kind: kindOf(name, value), from, to: from + value.length, isCertain: false });
      WORD.lastIndex = from + value.length;
    } else if (value.length > SHORT_VALUE) {
      longEnd = endOfRun(text, Math.max(longEnd, from + value.length));
      tries++;
    }
  }
  return found;
}

function endOfName(text: string, from: number): number {
  let end = from;
  while (isNameCode(text.charCodeAt(end))) end++;
  return end;
}

function endOfRun(text: string, from: number): number {
  let end = from;
  while (end < text.length && text.charCodeAt(end) > 0x20) end++;
  return end;
}

function startOfName(text: string, wordAt: number): number {
  let from = wordAt;
  while (from > 0 && wordAt - from < NAME_BEFORE && isNameCode(text.charCodeAt(from - 1))) from--;
  return from;
}

/** The notation of the value whose name starts here. */
function styleAt(text: string, nameAt: number): Style {
  if (text.startsWith("--", nameAt)) return "flag";
  const before = text.charAt(nameAt - 1);
  return before === "?" || before === "&" ? "query" : "plain";
}

/** The name up to the end of its word, without a flag's hyphens or the letter of a preceding escape. */
function nameFrom(text: string, nameAt: number, wordEnd: number): string {
  const name = text.slice(nameAt, wordEnd);
  const isEscape = text.charAt(nameAt - 1) === "\\" && /^[nrt]/.test(name);
  return (isEscape ? name.slice(1) : name).replace(/^-+/, "");
}

function kindOf(name: string, value: string): string {
  if (/aws|secret_?access_?key/i.test(name) && value.length === 40) return "aws-secret-key";
  if (/account_?key/i.test(name) && value.endsWith("==")) return "azure-storage-key";
  if (/pass|pwd/i.test(name)) return "password";
  if (/^[A-Z][A-Z0-9_]+$/.test(name)) return "env-secret";
  return /key/i.test(name) ? "api-key" : "secret";
}
