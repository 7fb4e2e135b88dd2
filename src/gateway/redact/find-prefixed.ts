import type { FoundSecret } from "./found-secret.ts";
import { PREFIXED_SECRETS } from "./prefixed-secrets.ts";

/** Only long words can be secrets; everything else of a text is passed over at the speed of one pattern. */
const LONG_WORD = /[A-Za-z0-9_.~-]{16,}/g;
/** Inside a longer word secrets are looked for only at its beginning. */
const MOST_INNER_CHARACTERS = 512;

/** Finds secrets by how they begin, in time linear in the text. */
export function findPrefixed(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  LONG_WORD.lastIndex = 0;
  for (let word = LONG_WORD.exec(text); word; word = LONG_WORD.exec(text)) {
    const secret = secretIn(text, word.index, word[0]);
    if (!secret) continue;
    found.push(secret);
    LONG_WORD.lastIndex = Math.max(LONG_WORD.lastIndex, secret.to);
  }
  return found;
}

function secretIn(text: string, from: number, word: string): FoundSecret | undefined {
  const first = from + escapeBefore(text, from);
  const secret = secretAt(text, first);
  if (secret || word.length > MOST_INNER_CHARACTERS) return secret;
  for (let at = 1; at < word.length; at++) {
    if (!isSeparator(word.charCodeAt(at - 1))) continue;
    const inner = secretAt(text, from + at);
    if (inner) return inner;
  }
  return undefined;
}

/** Characters at the beginning of a word that belong to what stands before it: the n of "\n", the 3D of "%3D". */
function escapeBefore(text: string, from: number): number {
  const before = text.charAt(from - 1);
  if (before === "\\") return 1;
  return before === "%" ? 2 : 0;
}

function isSeparator(code: number): boolean {
  return code === 0x2d || code === 0x2e || code === 0x5f || code === 0x7e;
}

function secretAt(text: string, at: number): FoundSecret | undefined {
  for (const { kind, start, rest } of PREFIXED_SECRETS.get(text.charAt(at)) ?? []) {
    if (!text.startsWith(start, at)) continue;
    rest.lastIndex = at + start.length;
    if (rest.test(text)) return { kind, from: at, to: rest.lastIndex, isCertain: true };
  }
  return undefined;
}
