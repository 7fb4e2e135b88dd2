import { createHash } from "node:crypto";

const MARK_LENGTH = 12;

/** The mark of a fenced text: a hash of the text, so that nothing inside the text can forge it. */
export function computeFenceMark(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, MARK_LENGTH);
}

/** Wraps a text in delimiters with its mark. Foreign content must be escaped before. */
export function fenceWithMark(tag: string, text: string): string {
  const mark = computeFenceMark(text);
  return `<${tag} mark="${mark}">\n${text}\n</${tag} mark="${mark}">`;
}
