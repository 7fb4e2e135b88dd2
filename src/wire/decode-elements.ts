import type { MessageInput } from "../model/message.ts";
import type { DecodedMessage, WireObject } from "./wire.ts";

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
  return parts.every((part) => part.type === "text" && part.text.trim() === "");
}
