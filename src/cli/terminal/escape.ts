import { codesOf } from "../../model/text-codes.ts";

/**
 * Characters that control a terminal or hide text: C0 and C1 controls, bidirectional controls, zero-width spaces, tags
 * and the supplementary variation selectors. Line breaks, tabs and the joiners that emoji and scripts need are
 * excluded.
 */
const CONTROL_CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
/** A text without these characters is printed unchanged. Includes surrogates, although most valid pairs stay. */
const MAY_CHANGE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb]/;
const [TAB, LINE_FEED, RETURN, REPLACEMENT] = [0x09, 0x0a, 0x0d, 0xfffd] as const;
/** Maximum output per code unit: six for `\u202e`, four spaces for a tab; a pair becomes at most `\u{e0041}`. */
const MAX_GROWTH = 6;
/** Code units converted at a time, which bounds the output buffer. */
const PIECE = 65_536;

/** Replacement of each BMP code unit, filled on demand; null for one that is printed unchanged. */
const ESCAPES: (string | null | undefined)[] = new Array(0x10000).fill(undefined);

/** Makes text safe to print: controls become \x1b or \u202e, tabs become spaces; line breaks stay. */
export function escapeText(text: string): string {
  if (!MAY_CHANGE.test(text)) return text;
  const codes = codesOf(text);
  const output = new Uint16Array(Math.min(PIECE, text.length) * MAX_GROWTH + MAX_GROWTH * 2);
  const bytes = Buffer.from(output.buffer);
  let printed = "";
  for (let from = 0; from < text.length; ) {
    let length = 0;
    let at = from;
    for (const to = Math.min(text.length, from + PIECE); at < to; ) {
      const code = codes[at] as number;
      const next = codes[at + 1] as number;
      const isPair = code >= 0xd800 && code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
      const shown = isPair ? pairEscape(code, next) : escapeOf(code, next);
      if (shown === null) {
        output[length++] = code;
        if (isPair) output[length++] = next;
      } else for (let index = 0; index < shown.length; index++) output[length++] = shown.charCodeAt(index);
      at += isPair ? 2 : 1;
    }
    printed += bytes.toString("utf16le", 0, length * 2);
    from = at;
  }
  return printed;
}

/** The replacement of a BMP code unit; null if it is printed unchanged. */
function escapeOf(code: number, next: number): string | null {
  // Of CRLF, only the line feed stays.
  if (code === RETURN && next === LINE_FEED) return "";
  const known = ESCAPES[code];
  if (known !== undefined) return known;
  const made = newEscape(code);
  ESCAPES[code] = made;
  return made;
}

function newEscape(code: number): string | null {
  if (code === TAB) return "    ";
  if (code >= 0xd800 && code <= 0xdfff) return String.fromCharCode(REPLACEMENT);
  const character = String.fromCharCode(code);
  CONTROL_CHARACTERS.lastIndex = 0;
  return CONTROL_CHARACTERS.test(character) ? escapeCharacter(character) : null;
}

/** The escape of a surrogate pair; null unless it is a tag or variation selector, the only ones that hide text. */
function pairEscape(high: number, low: number): string | null {
  if (high < 0xdb40 || high > 0xdb43) return null;
  const code = (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
  return code <= 0xe0fff ? `\\u{${code.toString(16)}}` : null;
}

/** Makes text safe to print on one line: runs of white space become one space. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/\s+/g, " ").trim());
}

/** Serializes a value as JSON with all terminal controls escaped. */
export function toSafeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(CONTROL_CHARACTERS, (character) =>
    escapeUnicode(character),
  );
}

function escapeCharacter(character: string): string {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : escapeUnicode(character);
}

/** Escapes as JSON does: two escapes for a character outside the BMP. */
function escapeUnicode(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
