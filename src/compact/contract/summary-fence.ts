import { computeFenceMark, fenceWithMark } from "../../model/fence.ts";

/** The two kinds of fences: around the input of a summarizer, and around quotes inside a summary. */
export type FenceTag = "conversation-data" | "quoted-data";

const DELIMITER = /<(?=\s*\/?\s*(?:conversation|quoted)-data)/gi;

/**
 * Marks a text as data with delimiters that carry a digest of the text, which the text itself cannot contain.
 * Delimiters inside the text are neutralized.
 */
export function fenceSummaryText(tag: FenceTag, text: string): string {
  return fenceWithMark(tag, withoutDelimiters(text));
}

/** Neutralizes everything in a text that looks like a fence delimiter. */
export function withoutDelimiters(text: string): string {
  return text.replace(DELIMITER, "‹");
}

/** The mark of a line that opens a fence; undefined for any other line. */
export function parseOpeningMark(tag: FenceTag, line: string): string | undefined {
  const mark = /^<(conversation|quoted)-data mark="([0-9a-f]{12})">$/.exec(line);
  return mark && `${mark[1]}-data` === tag ? mark[2] : undefined;
}

/** True if a mark belongs to exactly this fenced text. */
export function hasFenceMark(text: string, mark: string): boolean {
  return computeFenceMark(text) === mark;
}

/** The line that closes a fence. */
export function buildClosingLine(tag: FenceTag, mark: string): string {
  return `</${tag} mark="${mark}">`;
}
