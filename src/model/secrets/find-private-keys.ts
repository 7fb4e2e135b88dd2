import type { FoundSecret } from "./found-secret.ts";

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = "-----END ";
const END_LINE = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
/** Longest key searched for: RSA with 16,384 bits has 13 kB. */
const MAX_CHARACTERS = 32_768;
const CONTENT = /^[A-Za-z0-9+/=\s\\:;,.()"'|>-]*$/;
const BASE64 = /[A-Za-z0-9+/]{8}/;
/** Shortest base64 line of a truncated key. */
const MIN_LINE = 32;

/** Finds PEM private keys, plain or inside string literals, even if truncated. */
export function findPrivateKeys(text: string): readonly FoundSecret[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: FoundSecret[] = [];
  const begins = text.matchAll(BEGIN);
  let nextEnd = 0;
  for (let begin = begins.next().value; begin; ) {
    const next = begins.next().value;
    const from = begin.index + begin[0].length;
    if (nextEnd >= 0 && nextEnd < from) nextEnd = text.indexOf(END, from);
    // Each end belongs only to the last beginning before it, so that no text is scanned twice.
    const isOwnEnd = nextEnd >= 0 && (next === undefined || nextEnd < next.index);
    const whole = isOwnEnd ? findWholeEnd(text, from, nextEnd) : undefined;
    const to =
      whole ?? findTruncatedEnd(text, from, Math.min(next?.index ?? text.length, from + MAX_CHARACTERS));
    if (to !== undefined) found.push({ kind: "private-key", from: begin.index, to, isCertain: true });
    begin = next;
  }
  return found;
}

function findWholeEnd(text: string, from: number, end: number): number | undefined {
  if (end - from > MAX_CHARACTERS) return undefined;
  const content = text.slice(from, end);
  END_LINE.lastIndex = end;
  const isKey = CONTENT.test(content) && BASE64.test(content) && END_LINE.test(text);
  return isKey ? END_LINE.lastIndex : undefined;
}

/** The end of a truncated key: base64 lines and the characters between them. */
function findTruncatedEnd(text: string, from: number, limit: number): number | undefined {
  let end: number | undefined;
  for (let at = from; ; ) {
    at = skipBetween(text, at, limit);
    const line = at;
    while (at < limit && isBase64(text.charCodeAt(at))) at++;
    if (at - line < MIN_LINE) return end;
    end = at;
  }
}

/** Skips white space, quotes and escapes such as \n. */
function skipBetween(text: string, from: number, limit: number): number {
  let at = from;
  while (at < limit) {
    const character = text.charAt(at);
    if (character === "\\" && /[nrt]/.test(text.charAt(at + 1))) at += 2;
    else if (/[\s"'|>\\]/.test(character)) at++;
    else break;
  }
  return at;
}

function isBase64(code: number): boolean {
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetter || (code >= 0x2f && code <= 0x39) || code === 0x2b || code === 0x3d;
}
