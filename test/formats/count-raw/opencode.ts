import { countOf, type FileCount, listOf, NOTHING } from "./count.ts";

/**
 * Of an exported session: a message is an element of `messages`, and once more each tool part, for it holds the result
 * beside the call. Images are file parts and attachments of tools.
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
