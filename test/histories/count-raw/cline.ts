import { countOf, type FileCount, type Foreign, listOf, NOTHING } from "./count.ts";

/** A message is an element of the array, both in the model's conversation and in the messages shown to the user. */
export function countCline(text: string): FileCount {
  const elements = listOf(JSON.parse(text));
  return elements.some(({ role }) => role) ? countConversation(elements) : countShown(elements);
}

function countConversation(messages: Foreign[]): FileCount {
  const blocks = messages.flatMap(({ content }) => listOf(content));
  const within = blocks.flatMap(({ type, content }) => (type === "tool_result" ? listOf(content) : []));
  return {
    messages: messages.length,
    toolCalls: countOf(blocks, ({ type }) => type === "tool_use"),
    images: countOf([...blocks, ...within], ({ type }) => type === "image"),
    besides: NOTHING,
  };
}

/** The yardstick counts `tool` and `command` as calls and omits those of MCP servers. */
function countShown(messages: Foreign[]): FileCount {
  const kinds = messages.map(({ type, say, ask }) => (type === "say" ? say : ask));
  return {
    messages: messages.length,
    toolCalls: countOf(kinds, (kind) => kind === "tool" || kind === "command"),
    images: messages.flatMap(({ images }) => listOf(images)).length,
    besides: { ...NOTHING, toolCalls: countOf(kinds, (kind) => kind === "use_mcp_server") },
  };
}
