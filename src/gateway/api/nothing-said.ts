import type { MessageInput } from "../../index.ts";

/** True for a message without a word: no parts, or only blank text. */
export function isNothingSaid({ parts = [] }: MessageInput): boolean {
  return parts.every((part) => part.type === "text" && part.text.trim() === "");
}
