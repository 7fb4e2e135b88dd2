import { countOf, type FileCount, type Foreign, linesOf, listOf, NOTHING } from "./count.ts";

/**
 * A message is an element of `messages` (one file) or a line with an id (JSONL) of any type, each id once in its last
 * version. Rewound messages count. Extra: the results that a message carries with its calls count as one message, and
 * messages of the tool to the user (info, error, warning) do not count.
 */
export function countGeminiCli(text: string): FileCount {
  const messages = [...new Map(messagesOf(text).map((message) => [message.id, message])).values()];
  const answered = countOf(messages, ({ toolCalls }) =>
    listOf(toolCalls).some(({ result }) => listOf(result).length > 0),
  );
  const told = countOf(messages, ({ type }) => type !== "user" && type !== "gemini");
  return {
    messages: messages.length,
    toolCalls: messages.flatMap(({ toolCalls }) => listOf(toolCalls)).length,
    images: imagesIn(messages.map(({ content, toolCalls }) => [content, toolCalls])),
    besides: { ...NOTHING, messages: answered - told },
  };
}

function messagesOf(text: string): Foreign[] {
  try {
    return listOf(JSON.parse(text).messages);
  } catch {
    return linesOf(text).flatMap((line) => (line.id === undefined ? listOf(line.$set?.messages) : [line]));
  }
}

/** Images at any depth: Gemini nests parts in function responses. */
function imagesIn(value: Foreign): number {
  if (value === null || typeof value !== "object") return 0;
  const own = /^image\//.test(value.inlineData?.mimeType) ? 1 : 0;
  return Object.values(value).reduce((sum: number, inner) => sum + imagesIn(inner), own);
}
