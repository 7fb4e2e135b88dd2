import type { FoundSecret } from "./found-secret.ts";
import { isSecretValue } from "./secret-value.ts";

/** Words that names of secrets hold. */
const WORD =
  /passw(?:or)?d|passphrase|passwd|pwd|secret|token|(?:api|access|private|auth|encryption|signing|account|master|service|app|deploy|client|license|subscription)[_-]?key|credential|(?<=_)pass(?![a-z])/gi;
/** The rest of a name, and what stands between it and its value: "=", ":", "=>", or the space behind a flag. */
const REST =
  /([\w-]{0,40})\\{0,2}["'`]?\]?[ \t]{0,4}(?:=>|:=|[:=](?![=:]))[ \t]{0,4}(?:\\{0,2}(["'`])((?:[^"'`\\\r\n]|\\(?!["'`])){1,512})|([^\s"'`,;\\)}\]]{1,512}))/y;
const FLAG_REST =
  /([\w-]{0,40})[ \t]{1,4}(?:(["'])([^"'\r\n]{1,512})\2|([^\s"'`,;\\)}\]-][^\s"'`,;\\)}\]]{0,511}))/y;
const NAME_BEFORE = 40;

/** Finds what is assigned to names that speak of secrets: in environment files, headers, JSON, code and flags. */
export function findAssigned(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  WORD.lastIndex = 0;
  for (let word = WORD.exec(text); word; word = WORD.exec(text)) {
    const secret = assignedTo(text, word.index, WORD.lastIndex);
    if (!secret) continue;
    found.push(secret);
    WORD.lastIndex = secret.to;
  }
  return found;
}

function assignedTo(text: string, wordAt: number, wordEnd: number): FoundSecret | undefined {
  const before = nameBefore(text, wordAt);
  const match =
    matchAt(REST, text, wordEnd) ?? (before.isFlag ? matchAt(FLAG_REST, text, wordEnd) : undefined);
  if (!match) return undefined;
  const value = match[3] ?? match[4] ?? "";
  const name = before.name + text.slice(wordAt, wordEnd) + (match[1] ?? "");
  if (!isSecretValue({ name, value, isQuoted: match[2] !== undefined })) return undefined;
  const end = wordEnd + match[0].length;
  const from = text.lastIndexOf(value, end - value.length);
  return { kind: kindOf(name, value), from, to: from + value.length, isCertain: false };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** The part of a name that stands before the word that was found in it. */
function nameBefore(text: string, wordAt: number): { name: string; isFlag: boolean } {
  let from = wordAt;
  while (from > 0 && wordAt - from < NAME_BEFORE && /[\w-]/.test(text.charAt(from - 1))) from--;
  const name = text.slice(from, wordAt);
  const isEscape = text.charAt(from - 1) === "\\" && /^[nrt]/.test(name);
  return { name: (isEscape ? name.slice(1) : name).replace(/^-+/, ""), isFlag: name.startsWith("--") };
}

function kindOf(name: string, value: string): string {
  if (/aws|secret_?access_?key/i.test(name) && value.length === 40) return "aws-secret-key";
  if (/account_?key/i.test(name) && value.endsWith("==")) return "azure-storage-key";
  if (/pass|pwd/i.test(name)) return "password";
  if (/^[A-Z][A-Z0-9_]+$/.test(name)) return "env-secret";
  return /key/i.test(name) ? "api-key" : "secret";
}
