import type { MessageInput } from "../../index.ts";

const MOST_CHARACTERS = 80;
const MOST_READ = 20_000;

/** A name for a conversation: how the user began it, without what clients put around that. */
export function titleOf(messages: readonly MessageInput[]): string | undefined {
  for (const { role, text, parts = [] } of messages) {
    if (role !== "user") continue;
    const texts = [text ?? "", ...parts.flatMap((part) => (part.type === "text" ? [part.text] : []))];
    const own = texts.map(withoutTags).find((words) => words !== "" && !words.startsWith("<"));
    if (own !== undefined)
      return own.length > MOST_CHARACTERS ? `${own.slice(0, MOST_CHARACTERS - 1)}…` : own;
  }
  return undefined;
}

/** Clients wrap what they add themselves into tags. */
function withoutTags(text: string): string {
  return text
    .slice(0, MOST_READ)
    .replace(/<([a-z][\w-]*)[^>]*>[\s\S]*?<\/\1>/gi, " ")
    .replace(/\s+/g, " ")
    .trim();
}
