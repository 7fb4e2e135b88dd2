import { objectOf } from "../../formats/content/fields.ts";
import type { JsonObject } from "./api.ts";

const MARK = "cache_control";

/** Content without marks for the cache: they say something of a request, not of what was said. */
export function withoutMarks(content: unknown): unknown {
  return Array.isArray(content) && content.some(isMarked) ? content.map(unmarked) : content;
}

/** The same for an element and its content. */
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
