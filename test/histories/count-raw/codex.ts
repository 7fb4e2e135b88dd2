import { countOf, type FileCount, type Foreign, linesOf, listOf, NOTHING } from "./count.ts";

/**
 * A message is a response item other than reasoning: text, a call, or the output of a call. A tool call is an item
 * whose type ends in `_call`. Reasoning belongs to the next item; as an extra it is its own message if the
 * assistant says nothing more. Events, turn contexts and the history inside `compacted` repeat the items.
 */
export function countCodex(text: string): FileCount {
  const lines = linesOf(text);
  const items = lines.filter(({ type }) => type === "response_item").map(({ payload }) => payload);
  const blocks = items.flatMap((item) => [...listOf(item?.content), ...listOf(item?.output)]);
  const isAssistants = (item: Foreign) => item?.role === "assistant" || /_call$/.test(item?.type);
  const alone = countOf(
    items,
    ({ type }, index) =>
      type === "reasoning" && items[index + 1]?.type !== "reasoning" && !isAssistants(items[index + 1]),
  );
  return {
    messages: countOf(items, (item) => item?.type === "message" || /_(call|output)$/.test(item?.type)),
    toolCalls: countOf(items, (item) => /_call$/.test(item?.type)),
    images: countOf(blocks, (block) => block?.type === "input_image"),
    besides: { ...NOTHING, messages: alone },
  };
}
