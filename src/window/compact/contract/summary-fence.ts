import { fenceWithMark } from "../../../model/base/fence.ts";

const DELIMITER = /<(?=\s*\/?\s*(?:conversation|quoted)-data)/gi;

/** Fences the input of a summarizer or the quotes of a summary; delimiters inside the text are neutralized. */
export function fenceSummaryText(tag: "conversation-data" | "quoted-data", text: string): string {
  return fenceWithMark(tag, withoutDelimiters(text));
}

/** Neutralizes everything in a text that looks like a fence delimiter. */
export function withoutDelimiters(text: string): string {
  return text.replace(DELIMITER, "‹");
}
