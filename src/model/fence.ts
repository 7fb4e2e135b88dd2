import { createHash } from "node:crypto";

const MARK_LENGTH = 12;

/** The mark of a text that stands between delimiters: made of the text itself, so that nothing inside can have known it. */
export function markOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, MARK_LENGTH);
}

/** A text between delimiters with its mark. Whatever of it is foreign must have been made harmless before. */
export function fenced(tag: string, text: string): string {
  const mark = markOf(text);
  return `<${tag} mark="${mark}">\n${text}\n</${tag} mark="${mark}">`;
}
