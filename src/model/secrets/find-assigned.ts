import type { FoundSecret } from "./found-secret.ts";
import { isNameCode, MAX_NAME, type Style, scanAssignment } from "./scan-assignment.ts";
import { isSecretValue } from "./secret-value.ts";

/** Words that names of secrets hold. */
const WORD =
  /passw(?:or)?d|passphrase|passwd|pwd|secret|token|(?:api|access|private|auth|encryption|signing|account|master|service|app|deploy|client|license|subscription)[_-]?key|credential|(?<=_)pass(?![a-z])/gi;
const NAME_BEFORE = 40;
/** Values within one unbroken run of characters that are looked at; what is assigned hundreds of times there is no secret. */
const MAX_TRIES = 3;
/** Shortest value of a name that does not speak of a password. */
const MIN_VALUE = 12;
/** Values up to this length cost no more than the words that name them. */
const SHORT_VALUE = 32;

/** Finds what is assigned to names that speak of secrets: in environment files, headers, JSON, code, addresses and flags. */
export function findAssigned(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  /** The end of the run in which the last long value was looked at, and how many were in it. */
  let longEnd = 0;
  let tries = 0;
  /** The end of the name that the last word was found in. */
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

/** How the value of a name that begins here is written. */
function styleAt(text: string, nameAt: number): Style {
  if (text.startsWith("--", nameAt)) return "flag";
  const before = text.charAt(nameAt - 1);
  return before === "?" || before === "&" ? "query" : "plain";
}

/** A name up to the end of its word, without the hyphens of a flag and the letter of an escape before it. */
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
