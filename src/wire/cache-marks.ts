import { toObject } from "./fields.ts";
import type { WireObject } from "./wire.ts";

/** The cache markers of Anthropic and of OpenAI. */
const MARKS = ["cache_control", "prompt_cache_breakpoint"];

/** Removes cache markers from content, because they belong to a request and not to its messages. */
export function removeCacheMarks(content: unknown): unknown {
  return Array.isArray(content) && content.some(isMarked) ? content.map(removeBlockMarks) : content;
}

/** Removes cache markers from an element and its content. */
export function removeElementMarks(element: WireObject): WireObject {
  const content = removeCacheMarks(element.content);
  if (content === element.content && !hasMark(element)) return element;
  return { ...dropMarks(element), content };
}

function isMarked(block: unknown): boolean {
  const fields = toObject(block);
  if (!fields) return false;
  return hasMark(fields) || (Array.isArray(fields.content) && fields.content.some(isMarked));
}

function removeBlockMarks(block: unknown): unknown {
  const fields = toObject(block);
  if (!fields || !isMarked(fields)) return block;
  const rest = dropMarks(fields);
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.map(removeBlockMarks) } : rest;
}

function hasMark(fields: WireObject): boolean {
  for (const mark of MARKS) if (mark in fields) return true;
  return false;
}

function dropMarks(fields: WireObject): WireObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !MARKS.includes(name)));
}
