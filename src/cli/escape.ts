/**
 * Characters that a terminal would obey instead of showing: C0 and C1 controls, and those that turn the direction of
 * writing. A line break and a tab are not among them here.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is made visible here
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
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
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : unicode(character);
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
