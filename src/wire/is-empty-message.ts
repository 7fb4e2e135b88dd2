import type { MessageInput } from "../model/message.ts";

/** True for an empty message: no parts, or only blank text. */
export function isEmptyMessage({ parts = [] }: MessageInput): boolean {
  return parts.every((part) => part.type === "text" && part.text.trim() === "");
}
