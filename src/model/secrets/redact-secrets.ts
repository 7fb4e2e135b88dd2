import { codesOf } from "../text-codes.ts";
import { findAssigned } from "./find-assigned.ts";
import { findInContext } from "./find-in-context.ts";
import { findPrefixed } from "./find-prefixed.ts";
import { type FoundSecret, joinOverlapping, REDACTION_MARK } from "./found-secret.ts";

/** A text without its secrets. */
export interface RedactedText {
  readonly text: string;
  /** The kind of each redacted secret. */
  readonly found: readonly string[];
}

/** Redaction may uncover an adjacent secret; no text needs more rounds. */
const MAX_ROUNDS = 4;
/** A text with more secrets than this is probably hostile and gets no further round. */
const MAX_FOUND_BEFORE_ROUND = 1_000;

/**
 * Replaces each secret of a known kind with "[redacted:kind]", in linear time. Redacting the result again changes
 * nothing, unless the text had more than 1,000 secrets. Hashes, ids, images and code stay unchanged, and so does a
 * secret of unknown form without a telling name.
 */
export function redactSecrets(text: string): RedactedText {
  let redacted: RedactedText = { text, found: [] };
  for (let round = 0; round < MAX_ROUNDS && redacted.found.length <= MAX_FOUND_BEFORE_ROUND; round++) {
    const found = findSecrets(redacted.text);
    if (found.length === 0) break;
    redacted = {
      text: replaceSecrets(redacted.text, found),
      found: redacted.found.concat(found.map(({ kind }) => kind)),
    };
  }
  return redacted;
}

/** The secrets of a text in order, without overlaps. */
export function findSecrets(text: string): readonly FoundSecret[] {
  if (text.length < 12) return [];
  const codes = codesOf(text);
  return joinOverlapping(
    findPrefixed(text, codes).concat(
      findPrivateKeys(text),
      findInContext(text, codes),
      findAssigned(text, codes),
    ),
  );
}

function replaceSecrets(text: string, found: readonly FoundSecret[]): string {
  let at = 0;
  let left = "";
  for (const { kind, from, to } of found) {
    left += `${text.slice(at, from)}${REDACTION_MARK}${kind}]`;
    at = to;
  }
  return left + text.slice(at);
}

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
function findPrivateKeys(text: string): readonly FoundSecret[] {
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
