import { countOf, type FileCount, listOf, NOTHING } from "./count.ts";

/**
 * In an exported session, a message is an element of `messages`; each tool part counts once more, because it contains
 * the result as well as the call. Images are file parts and attachments of tools.
 */
export function countOpencode(text: string): FileCount {
  const messages = listOf(JSON.parse(text).messages);
  const parts = messages.flatMap((message) => listOf(message.parts));
  const toolCalls = countOf(parts, ({ type }) => type === "tool");
  const attached = parts.flatMap(({ state }) => listOf(state?.attachments));
  const files = [...parts.filter(({ type }) => type === "file"), ...attached];
  return {
    messages: messages.length + toolCalls,
    toolCalls,
    images: countOf(files, ({ mime }) => /^image\//.test(mime)),
    besides: NOTHING,
  };
}
