import type { MessageInput } from "../../index.ts";
import { buildTagPattern, WRAPPER_TAGS } from "../../model/message-tags.ts";

const MAX_CHARACTERS = 80;
const WRAPPER = new RegExp(`^\\s*<(${buildTagPattern(WRAPPER_TAGS, "title")})>`);

/** Returns the first line of a person's request; undefined for messages that tools wrote in the person's name. */
export function findFirstRequest(message: MessageInput): string | undefined {
  if (message.role !== "user") return undefined;
  const texts =
    message.text === undefined ? (message.parts ?? []) : [{ type: "text" as const, text: message.text }];
  for (const part of texts) {
    if (part.type !== "text") continue;
    const words = part.text.replace(WRAPPER, "").trim();
    // Leading tags and headings mark instructions and context from the tool.
    if (words === "" || /^[<#[{]/.test(words)) continue;
    const line = (words.split("\n", 1)[0] as string).replace(/<\/\w+>\s*$/, "").trim();
    return line.length <= MAX_CHARACTERS
      ? line
      : `${line
          .slice(0, MAX_CHARACTERS - 1)
          .toWellFormed()
          .trimEnd()}…`;
  }
  return undefined;
}
