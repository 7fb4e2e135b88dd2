import { objectOf } from "../../formats/content/fields.ts";
import type { JsonObject } from "./api.ts";

const MARK = "cache_control";

/** Removes cache markers from content, because they belong to a request and not to its messages. */
export function withoutMarks(content: unknown): unknown {
  return Array.isArray(content) && content.some(isMarked) ? content.map(unmarked) : content;
}

/** Removes cache markers from an element and its content. */
export function unmarkedElement(element: JsonObject): JsonObject {
  const content = withoutMarks(element.content);
  if (content === element.content && !(MARK in element)) return element;
  const { [MARK]: _, ...rest } = element;
  return { ...rest, content };
}

function isMarked(block: unknown): boolean {
  const fields = objectOf(block);
  if (!fields) return false;
  return MARK in fields || (Array.isArray(fields.content) && fields.content.some(isMarked));
}

function unmarked(block: unknown): unknown {
  const fields = objectOf(block);
  if (!fields || !isMarked(fields)) return block;
  const { [MARK]: _, ...rest } = fields;
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.map(unmarked) } : rest;
}
