import type { MessageInput } from "../../index.ts";

/** The plain text of a reply. */
export function getReplyText(message: MessageInput | undefined): string {
  const texts = message?.parts?.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return message?.text ?? texts?.join("\n") ?? "";
}
