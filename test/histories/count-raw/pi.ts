import { countOf, type FileCount, linesOf, listOf, NOTHING } from "./count.ts";

/** A message is an entry of type `message`. Extra: messages inserted by extensions. */
export function countPi(text: string): FileCount {
  const entries = linesOf(text);
  const messages = entries.filter(({ type }) => type === "message").map(({ message }) => message);
  const blocks = messages.flatMap((message) => listOf(message?.content));
  return {
    messages: messages.length,
    toolCalls: countOf(blocks, ({ type }) => type === "toolCall"),
    images: countOf(blocks, ({ type }) => type === "image"),
    besides: { ...NOTHING, messages: countOf(entries, ({ type }) => type === "custom_message") },
  };
}
