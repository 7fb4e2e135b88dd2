/**
 * Characters that a terminal would obey instead of showing, or that hide text: C0 and C1 controls, those that turn the direction
 * of writing, spaces without width, tags and variation selectors beyond the common ones. A line break and a tab are not among
 * them here, nor the joiners that emoji and scripts need.
 */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is made visible here
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const ISOLATED_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text that is safe to print: controls are written as \x1b or \u202e, tabs as spaces; line breaks stay. */
export function escapeText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", "    ")
    .replace(OBEYED, written)
    .replace(ISOLATED_SURROGATES, "\ufffd");
}

/** The same on one line: white space of any kind becomes one space. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/\s+/g, " ").trim());
}

/** JSON of a value in which nothing is left that a terminal would obey. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(OBEYED, (character) => unicode(character));
}

function written(character: string): string {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : unicode(character);
}

/** As JSON writes it: two escapes for a character beyond 16 bits. */
function unicode(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
