import { computeFenceMark, fenceWithMark } from "../../model/fence.ts";

/** The content of a fence: automatically recalled text, the result of a tool, or pinned memories. */
export type DataTag = "context" | "memory-data" | "memories";

const OPENING = /^<(context|memory-data|memories) mark="([0-9a-f]{12})">\n/gm;
/** A text with more openings was not made by us. */
const MAX_FENCES = 64;

/**
 * Lines between delimiters with a mark derived from the lines, so that their text cannot have contained it. Foreign
 * text must have been made harmless before.
 */
export function fenceData(tag: DataTag, lines: string): string {
  return fenceWithMark(tag, lines);
}

/** A text without the content of genuine fences, which is stored elsewhere and must not be found twice. */
export function removeFenced(text: string): string {
  if (!text.includes(' mark="')) return text;
  const kept: string[] = [];
  let end = 0;
  let openings = 0;
  for (const { 0: opening, 1: tag, 2: mark, index } of text.matchAll(OPENING)) {
    if (index < end) continue;
    if (++openings > MAX_FENCES) break;
    const closing = `\n</${tag} mark="${mark}">`;
    const start = index + opening.length;
    const close = text.indexOf(closing, start);
    if (close < 0 || computeFenceMark(text.slice(start, close)) !== mark) continue;
    kept.push(text.slice(end, index));
    end = close + closing.length;
  }
  return kept.join("") + text.slice(end);
}
