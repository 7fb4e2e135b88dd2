import { flattenParts, type Message } from "../index.ts";

/** The text of a message, with its tool calls and their results; media by their type. */
export function renderMessageText(message: Message): string {
  const texts = flattenParts(message).flatMap((part) => {
    if (part.type === "text" || part.type === "reasoning") return [part.text];
    if (part.type === "tool-call") return [`[calls ${part.name}] ${JSON.stringify(part.input)}`];
    return part.type === "blob" ? [part.preview ?? `[${part.mime}]`] : [];
  });
  return texts.filter((text) => text !== "").join("\n");
}
