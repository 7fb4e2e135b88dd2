import type { FoundSecret } from "./found-secret.ts";

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = "-----END ";
const END_LINE = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
/** Longest key that is looked for: RSA with 16,384 bits has 13 kB. */
const MOST_CHARACTERS = 32_768;
const CONTENT = /^[A-Za-z0-9+/=\s\\:;,.()"'|>-]*$/;
/** What is left of a key whose end was cut off: lines of base64. */
const CUT_OFF = /(?:(?:\\[nrt]|[\s"'|>\\])*[A-Za-z0-9+/=]{32,})+/y;

/** Finds private keys in PEM form, plain or inside the strings of a program, also where their end was cut off. */
export function findPrivateKeys(text: string): readonly FoundSecret[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: FoundSecret[] = [];
  let nextEnd = 0;
  for (const { index, 0: begin } of text.matchAll(BEGIN)) {
    const from = index + begin.length;
    if (nextEnd >= 0 && nextEnd < from) nextEnd = text.indexOf(END, from);
    const to = wholeEnd(text, from, nextEnd) ?? cutEnd(text, from);
    if (to !== undefined) found.push({ kind: "private-key", from: index, to, isCertain: true });
  }
  return found;
}

function wholeEnd(text: string, from: number, end: number): number | undefined {
  if (end < 0 || end - from > MOST_CHARACTERS) return undefined;
  const content = text.slice(from, end);
  END_LINE.lastIndex = end;
  const isKey = CONTENT.test(content) && /[A-Za-z0-9+/]{8}/.test(content) && END_LINE.test(text);
  return isKey ? END_LINE.lastIndex : undefined;
}

function cutEnd(text: string, from: number): number | undefined {
  CUT_OFF.lastIndex = from;
  return CUT_OFF.test(text) ? CUT_OFF.lastIndex : undefined;
}
