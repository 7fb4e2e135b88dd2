import { fenced, markOf } from "../../model/fence.ts";

/** The two kinds of fence: around what a summariser is to read, and around quotes inside a summary. */
export type FenceTag = "conversation-data" | "quoted-data";

const DELIMITER = /<(?=\s*\/?\s*(?:conversation|quoted)-data)/gi;

/**
 * Text as data: between delimiters that carry a mark made of the text itself, so that nothing inside can have known it;
 * whatever looks like a delimiter inside is made harmless.
 */
export function fence(tag: FenceTag, text: string): string {
  return fenced(tag, withoutDelimiters(text));
}

/** Text in which nothing looks like a delimiter of a fence. */
export function withoutDelimiters(text: string): string {
  return text.replace(DELIMITER, "‹");
}

/** The mark of a line that opens a fence; undefined for any other line. */
export function openedBy(tag: FenceTag, line: string): string | undefined {
  const mark = /^<(conversation|quoted)-data mark="([0-9a-f]{12})">$/.exec(line);
  return mark && `${mark[1]}-data` === tag ? mark[2] : undefined;
}

/** Tells whether a text is what stood between delimiters with this mark when they were made. */
export function isFenced(text: string, mark: string): boolean {
  return markOf(text) === mark;
}

/** The line that closes a fence. */
export function closingOf(tag: FenceTag, mark: string): string {
  return `</${tag} mark="${mark}">`;
}
