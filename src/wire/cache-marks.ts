import { toObject } from "./fields.ts";
import type { WireObject } from "./wire.ts";

const MARK = "cache_control";

/** Removes cache markers from content, because they belong to a request and not to its messages. */
export function removeCacheMarks(content: unknown): unknown {
  return Array.isArray(content) && content.some(isMarked) ? content.map(removeBlockMarks) : content;
}

/** Removes cache markers from an element and its content. */
export function removeElementMarks(element: WireObject): WireObject {
  const content = removeCacheMarks(element.content);
  if (content === element.content && !(MARK in element)) return element;
  const { [MARK]: _, ...rest } = element;
  return { ...rest, content };
}

function isMarked(block: unknown): boolean {
  const fields = toObject(block);
  if (!fields) return false;
  return MARK in fields || (Array.isArray(fields.content) && fields.content.some(isMarked));
}

function removeBlockMarks(block: unknown): unknown {
  const fields = toObject(block);
  if (!fields || !isMarked(fields)) return block;
  const { [MARK]: _, ...rest } = fields;
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.map(removeBlockMarks) } : rest;
}
