import type { TextCodes } from "../text-codes.ts";
import type { FoundSecret } from "./found-secret.ts";
import { PREFIXED_SECRETS } from "./prefixed-secrets.ts";

/** Shorter words cannot be secrets and are skipped. */
const MIN_WORD = 16;
/** In longer words, secrets are searched only at the beginning. */
const MAX_INNER_CHARACTERS = 512;
/** Positions tried in one word after a false start. */
const MAX_TRIES = 16;

/** Characters of words: letters, digits, "_", ".", "~" and "-". */
const IS_WORD = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~-")
  IS_WORD[character.charCodeAt(0)] = 1;

function isWordCode(code: number): boolean {
  return code < 128 && IS_WORD[code] === 1;
}

/** Finds secrets by their prefix, in linear time. */
export function findPrefixed(text: string, codes: TextCodes): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (let at = 0; at < text.length; ) {
    const from = at;
    while (isWordCode(codes[at] as number)) at++;
    if (at - from < MIN_WORD) {
      if (at === from) at++;
      continue;
    }
    const secret = findSecretIn(text, codes, from, at);
    if (!secret) continue;
    found.push(secret);
    at = Math.max(at, secret.to);
  }
  return found;
}

function findSecretIn(text: string, codes: TextCodes, from: number, to: number): FoundSecret | undefined {
  const first = matchSecret(text, codes, from + countEscapeCharacters(text, from));
  if (typeof first === "object" || to - from > MAX_INNER_CHARACTERS)
    return typeof first === "object" ? first : undefined;
  let tries = 0;
  for (let at = from + 1; at < to && tries < MAX_TRIES; at++) {
    if (!isSeparator(codes[at - 1] as number)) continue;
    const inner = matchSecret(text, codes, at);
    if (typeof inner === "object") return inner;
    if (inner === "begins") tries++;
  }
  return undefined;
}

/** Characters at the start of a word that belong to an escape before it: the n of "\n", the 3D of "%3D". */
function countEscapeCharacters(text: string, from: number): number {
  const before = text.charAt(from - 1);
  if (before === "\\") return 1;
  return before === "%" ? 2 : 0;
}

function isSeparator(code: number): boolean {
  return code === 0x2d || code === 0x2e || code === 0x5f || code === 0x7e;
}

/** The secret at a position; "begins" if only a prefix matches. */
function matchSecret(text: string, codes: TextCodes, at: number): FoundSecret | "begins" | undefined {
  let begins: "begins" | undefined;
  for (const { kind, start, second, rest } of PREFIXED_SECRETS[codes[at] as number] ?? []) {
    if ((second !== undefined && codes[at + 1] !== second) || !text.startsWith(start, at)) continue;
    rest.lastIndex = at + start.length;
    if (rest.test(text)) return { kind, from: at, to: rest.lastIndex, isCertain: true };
    // Every other word starts with a one-letter prefix, and its pattern fails quickly.
    if (start.length > 1) begins = "begins";
  }
  return begins;
}
