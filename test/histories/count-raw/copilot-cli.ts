import { countOf, distinct, type FileCount, linesOf, listOf, NOTHING } from "./count.ts";

/**
 * A message is a `user.message` or `assistant.message` event; a call is a request of an assistant or an execution, each
 * id once. Extra: the system prompt and tool results.
 */
export function countCopilotCli(text: string): FileCount {
  const events = linesOf(text);
  const of = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
  const asked = of("assistant.message").flatMap((data) => listOf(data?.toolRequests));
  const answers = of("tool.execution_complete");
  const shown = answers.flatMap((data) => listOf(data?.result?.contents));
  return {
    messages: of("user.message").length + of("assistant.message").length,
    toolCalls: distinct([...asked, ...of("tool.execution_start")].map((call) => call?.toolCallId)),
    images: countOf(shown, ({ type }) => type === "image"),
    besides: { ...NOTHING, messages: of("system.message").length + answers.length },
  };
}
