import type { Message } from "../model/message.ts";
import type { Part } from "../model/part.ts";

/** Keeps the head and tail of a text that is too long and states between them how much was cut. */
export function clipText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = Math.floor(characters * 0.6);
  const tail = Math.max(0, characters - head);
  const cut = text.length - head - tail;
  const end = tail > 0 ? text.slice(-tail).toWellFormed() : "";
  return `${text.slice(0, head).toWellFormed()}\n[… ${cut} characters cut …]\n${end}`;
}

/** Characters of text in a part; 0 if it has none. */
export function countTextCharacters(part: Part): number {
  if (part.type === "text") return part.text.length;
  if (part.type === "tool-result")
    return part.output.reduce((sum, inner) => sum + (inner.type === "text" ? inner.text.length : 0), 0);
  return 0;
}

/** Clips the text of one part of a message. */
export function clipPart(message: Message, index: number, characters: number): Message {
  const parts = message.parts.map((part, at) => (at === index ? clipPartText(part, characters) : part));
  return { ...message, parts };
}

function clipPartText(part: Part, characters: number): Part {
  if (part.type === "text") return { ...part, text: clipText(part.text, characters) };
  if (part.type !== "tool-result") return part;
  const text = part.output.flatMap((inner) => (inner.type === "text" ? [inner.text] : [])).join("\n");
  const others = part.output.filter((inner) => inner.type !== "text");
  return { ...part, output: [{ type: "text", text: clipText(text, characters) }, ...others] };
}

/** Replaces each image of a message with a short text. */
export function withoutImages(message: Message): Message {
  const isImage = (part: Part) => part.type === "blob" && part.of === undefined;
  if (!message.parts.some(isImage)) return message;
  const parts = message.parts.map(
    (part): Part => (isImage(part) ? { type: "text", text: "[image removed]" } : part),
  );
  return { ...message, parts };
}
