import { countOf, type FileCount, type Foreign, linesOf, listOf } from "./count.ts";

/**
 * A message is a user line, or all assistant lines of one message id. Tool calls and images are blocks of those lines;
 * the copies in `toolUseResult` do not count. Extra: messages of sub-agents in progress lines, by the same rule.
 */
export function countClaudeCode(text: string): FileCount {
  const lines = linesOf(text);
  const inner = lines.filter(({ type, data }) => type === "progress" && data?.type === "agent_progress");
  return { ...count(lines), besides: count(inner.map(({ data }) => data.message)) };
}

function count(all: Foreign[]) {
  const lines = all.filter((line) => line?.type === "user" || line?.type === "assistant");
  const messages = new Set(
    lines.map(
      ({ type, uuid, message }, index) => `${type} ${(type === "user" ? uuid : message?.id) ?? index}`,
    ),
  );
  const blocks = lines.flatMap(({ message }) => listOf(message?.content));
  const within = blocks.flatMap(({ type, content }) => (type === "tool_result" ? listOf(content) : []));
  return {
    messages: messages.size,
    toolCalls: countOf(blocks, ({ type }) => type === "tool_use"),
    images: countOf([...blocks, ...within], ({ type }) => type === "image"),
  };
}
