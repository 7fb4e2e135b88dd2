import type { LineNumbering } from "./copy-rules.ts";

const [ZERO, NINE, NEWLINE] = [0x30, 0x39, 0x0a];

/** Tells whether the first line has a number. */
export function isNumbered(text: string, numbering: LineNumbering): boolean {
  return skipLineNumber(text, 0, numbering) > 0;
}

/**
 * Tells whether `text` equals the numbered lines from the first on, without their numbers. It compares character by
 * character: slicing long texts would cost several times as much, and nearly all read content takes this path.
 */
export function isNumberedCopy(numbered: string, text: string, numbering: LineNumbering): boolean {
  let from = skipLineNumber(numbered, 0, numbering);
  if (from === 0) return false;
  while (numbered[from] === " " || numbered[from] === "\t") from++;
  for (let at = 0; at < text.length; at++, from++) {
    const unit = numbered.charCodeAt(from);
    if (unit !== text.charCodeAt(at)) return false;
    if (unit === NEWLINE) from = skipLineNumber(numbered, from + 1, numbering) - 1;
  }
  return true;
}

/** Strips numbers line by line: a global replacement in a long text costs several times as much. */
export function removeLineNumbers(text: string, numbering: LineNumbering): string {
  const lines: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const newline = text.indexOf("\n", from);
    const end = newline < 0 ? text.length : newline;
    lines.push(text.slice(skipLineNumber(text, from, numbering), end));
    from = end + 1;
  }
  return lines.join("\n");
}

/** Returns the position after the number of a line that begins at `from`, or `from` if it has none. */
function skipLineNumber(text: string, from: number, numbering: LineNumbering): number {
  const { openings, blanks, marks, hasGap } = numbering;
  let at = from + (openings.find((opening) => text.startsWith(opening, from))?.length ?? 0);
  while (at < text.length && blanks.includes(text[at] as string)) at++;
  const digits = at;
  while (text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= NINE) at++;
  if (at === digits || at >= text.length || !marks.includes(text[at] as string)) return from;
  return hasGap && text[at + 1] === " " ? at + 2 : at + 1;
}
