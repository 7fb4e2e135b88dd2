/**
 * Characters that control a terminal or hide text: C0 and C1 controls, bidirectional controls, zero-width spaces, tags
 * and the supplementary variation selectors. Line breaks, tabs and the joiners that emoji and scripts need are
 * excluded.
 */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const ISOLATED_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes text safe to print: controls become \x1b or \u202e, tabs become spaces; line breaks stay. */
export function escapeText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", "    ")
    .replace(OBEYED, written)
    .replace(ISOLATED_SURROGATES, "\ufffd");
}

/** Makes text safe to print on one line: runs of white space become one space. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/\s+/g, " ").trim());
}

/** Serializes a value as JSON with all terminal controls escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(OBEYED, (character) => unicode(character));
}

function written(character: string): string {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : unicode(character);
}

/** Escapes as JSON does: two escapes for a character outside the BMP. */
function unicode(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
