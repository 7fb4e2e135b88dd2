import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Message } from "../model/message.ts";
import { ADDED_TAGS, buildTagPattern, WRAPPER_TAGS } from "../model/message-tags.ts";
import type { Part } from "../model/part.ts";
import { removeElements } from "../model/remove-elements.ts";
import { clipText } from "./clip-text.ts";

/** The header of a tool's output that a client has put into a user message as text. */
interface OutputHeader {
  readonly tool: string;
  /** The subject of the call: a file, a command. */
  readonly subject?: string;
}

const HEADED =
  /^\s*\[(\w[\w.:-]{0,80})(?: for '([\s\S]{0,2000}?)')?\]\s*(?:result|output|observation|error)s?:/i;
const TAGGED = /^\s*<(?:tool|function)_(?:results?|response|output)\b[^>]{0,200}>/i;
const NOT_CARRIED_OUT = /^\s*Tool \[(\w[\w.:-]{0,80})\] /;
/** Elements that wrap the person's own text among content added by the client. */
const OWN_TEXT = new RegExp(`^[ \\t]*<(${buildTagPattern(WRAPPER_TAGS, "window")})>`, "m");
/** Elements that a client adds: state of the machine or the editor, reminders. */
const ADDED = new RegExp(
  `^\\s*<(${buildTagPattern(ADDED_TAGS, "state")})(?![\\w-])[^<>]*>[\\s\\S]*</\\1>\\s*$`,
  "i",
);
/** Such elements and others without words of a person, anywhere in a text. */
const ADDED_ELEMENT = new RegExp(`<(${buildTagPattern(ADDED_TAGS, "words")})(?![\\w-])[^<>]*>`, "gi");
const MAX_OWN_CHARACTERS = 8_000;
const MAX_SUBJECT_CHARACTERS = 100;
const CLOSING = /<\/([A-Za-z][\w-]*)>\s*$/;

/** The header of a tool's output at the beginning of a text; undefined if there is none. */
export function parseOutputHeader(text: string): OutputHeader | undefined {
  const headed = HEADED.exec(text);
  if (headed) return { tool: headed[1] as string, ...dropUndefined({ subject: headed[2] }) };
  const tool = NOT_CARRIED_OUT.exec(text)?.[1] ?? (TAGGED.test(text) ? "tool" : undefined);
  return tool === undefined ? undefined : { tool };
}

/**
 * True for a user message that contains only tool output: it follows a call, begins with an output header, and has no
 * text by a person. Agents that write calls as tags in plain text send results this way.
 */
export function isInlineToolOutput(message: Message, before: Message | undefined): boolean {
  if (message.role !== "user" || !before || !endsWithCall(before)) return false;
  let hasOutput = false;
  for (const { part, output } of listPartsWithHeaders(message)) {
    const text = getText(part);
    if (part.type === "tool-result" || (text !== undefined && OWN_TEXT.test(text))) return false;
    if (output) hasOutput = true;
    else if (text === undefined || !isAdded(text)) return false;
  }
  return hasOutput;
}

/** True for a user message with content by a person, in addition to content added by tools and clients. */
export function hasOwnText({ role, parts }: Message): boolean {
  if (role !== "user") return false;
  return parts.some((part) => {
    const text = getText(part);
    if (part.type === "tool-result" || (text !== undefined && isAdded(text))) return false;
    return text === undefined || OWN_TEXT.test(text) || !isElement(text);
  });
}

/** The text of a person in a message, without elements that a client has added. */
export function getOwnText({ parts }: Message): string {
  return parts
    .flatMap((part) => (part.type === "tool-result" ? [] : [getText(part) ?? ""]))
    .map((text) => text.slice(0, MAX_OWN_CHARACTERS))
    .map((text) => removeElements(text, ADDED_ELEMENT, " ").trim())
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Clips each part of tool output in a user message to `characters`; text by a person stays. */
export function clipInlineToolOutput(message: Message, characters: number): Message {
  const isLong = message.parts.some((part) => part.type === "text" && part.text.length > characters);
  if (message.role !== "user" || !isLong) return message;
  let isChanged = false;
  const parts = listPartsWithHeaders(message).map(({ part, output }): Part => {
    if (!output || part.type !== "text" || part.text.length <= characters) return part;
    const words = OWN_TEXT.exec(part.text)?.index ?? part.text.length;
    if (words <= characters) return part;
    isChanged = true;
    return { ...part, text: `${clipText(part.text.slice(0, words), characters)}${part.text.slice(words)}` };
  });
  return isChanged ? { ...message, parts } : message;
}

/** A heading for a user message with tool output: the first tool and the subject of its call. */
export function buildOutputHeading(message: Message): string | undefined {
  const head = listPartsWithHeaders(message).find(({ output }) => output)?.output;
  if (!head) return undefined;
  const about = head.subject?.split("\n", 1)[0]?.slice(0, MAX_SUBJECT_CHARACTERS);
  return about ? `${head.tool} ${about.toWellFormed()}` : head.tool;
}

/** The parts of a message, each with the output header it belongs to: a header also covers the parts that follow it. */
function listPartsWithHeaders(
  message: Message,
): readonly { readonly part: Part; readonly output: OutputHeader | undefined }[] {
  let output: OutputHeader | undefined;
  return message.parts.map((part) => {
    const text = message.role === "user" ? getText(part) : undefined;
    if (text === undefined) return { part, output };
    output = parseOutputHeader(text) ?? (OWN_TEXT.test(text) ? undefined : output);
    return { part, output: isAdded(text) ? undefined : output };
  });
}

/** The text of a part; for text stored as a blob, the preview of its beginning and end. */
function getText(part: Part): string | undefined {
  if (part.type === "text") return part.text;
  return part.type === "blob" && part.of === "text" ? part.preview : undefined;
}

function isAdded(text: string): boolean {
  return text.trim() === "" || ADDED.test(text);
}

/** True for a text that is a single element: programs write such texts, people hardly ever do. */
function isElement(text: string): boolean {
  const name = /^\s*<([A-Za-z][\w-]*)(?:\s[^<>]{0,200})?>/.exec(text)?.[1];
  return name !== undefined && text.trimEnd().endsWith(`</${name}>`);
}

/** True for an assistant message that ends with a call: a tool-call part, or a tag in its text. */
function endsWithCall(message: Message): boolean {
  if (message.role !== "assistant") return false;
  return message.parts.some(({ type }) => type === "tool-call") || findTagCall(message) !== undefined;
}

/** The text of an assistant before a call written as a tag; undefined if the message does not end with such a call. */
export function getTextBeforeTagCall(message: Message): string | undefined {
  const call = findTagCall(message);
  if (!call) return undefined;
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [...texts.slice(0, -1), call.text.slice(0, call.at)].join("\n").trim();
}

function findTagCall({ parts }: Message): { readonly text: string; readonly at: number } | undefined {
  const last = parts.findLast(({ type }) => type === "text");
  if (last?.type !== "text") return undefined;
  const name = CLOSING.exec(last.text.slice(-200))?.[1];
  const at = name === undefined ? -1 : last.text.indexOf(`<${name}>`);
  return at < 0 ? undefined : { text: last.text, at };
}
