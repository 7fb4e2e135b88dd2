import type { Json } from "../model/json.ts";
import type { MessageInput } from "../model/message.ts";
import type { PartInput, ToolResultInput } from "../model/part.ts";
import { omitFields, toArray, toObject } from "./fields.ts";
import type { DecodedMessage, WireObject } from "./wire.ts";

/** Fields of blocks that our parts cannot represent, by index of the block; stored in a message's meta as `extras`. */
export type Extras = { readonly [index: string]: { readonly [field: string]: Json } };

/** Foreign content as parts, one per block in order. */
export interface Content {
  readonly parts: readonly PartInput[];
  readonly extras?: Extras;
}

/** A converted block. */
export interface KnownPart {
  readonly part: PartInput;
  /** Fields of the block that the part represents. */
  readonly fields: readonly string[];
}

/** Converts the blocks of one dialect; undefined for unknown blocks. */
type BlockDecoder = (block: WireObject, format: string) => KnownPart | undefined;

/** Converts content that is a string or blocks. Unknown blocks become raw parts of `format`. */
export function decodeBlockContent(content: unknown, format: string, partOfBlock: BlockDecoder): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const blocks = toArray(content);
  const parts: PartInput[] = [];
  let extras: [string, { readonly [field: string]: Json }][] | undefined;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index];
    const fields = toObject(block);
    const known = fields && partOfBlock(fields, format);
    parts.push(known?.part ?? { type: "raw", format, value: block as Json });
    const extra = known && fields && omitFields(fields, known.fields);
    if (!extra) continue;
    extras ??= [];
    extras.push([String(index), extra]);
  }
  return extras ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

/** Converts the output of a tool result: a string, or blocks of text and media. Blocks with further fields stay raw. */
export function decodeBlockOutput(
  content: unknown,
  format: string,
  partOfBlock: BlockDecoder,
): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  return toArray(content).map((block) => {
    const fields = toObject(block);
    const known = fields && partOfBlock(fields, format);
    const isWhole = known && fields && !omitFields(fields, known.fields);
    if (isWhole && (known.part.type === "text" || known.part.type === "data")) return known.part;
    return { type: "raw", format, value: block as Json };
  });
}

/** Decodes elements into one message each; empty ones are omitted. */
export function decodeElements(
  elements: readonly WireObject[],
  messageOf: (element: WireObject) => MessageInput,
): readonly DecodedMessage[] {
  const messages: DecodedMessage[] = [];
  for (let from = 0; from < elements.length; from++) {
    const input = messageOf(elements[from] as WireObject);
    if (!isEmptyMessage(input)) messages.push({ input, from, to: from + 1 });
  }
  return messages;
}

/** True for an empty message: no parts, or only blank text. */
export function isEmptyMessage({ parts = [] }: MessageInput): boolean {
  for (const part of parts) if (part.type !== "text" || part.text.trim() !== "") return false;
  return true;
}

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
