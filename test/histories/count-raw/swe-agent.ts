import { type FileCount, listOf, NOTHING } from "./count.ts";

/**
 * Each step of the trajectory is a response with its action and the observation: two messages and one call. Extra: the
 * history before the first response (system prompt, demonstrations, the task).
 */
export function countSweAgent(text: string): FileCount {
  const { trajectory, history } = JSON.parse(text);
  const steps = listOf(trajectory).length;
  const said = listOf(history);
  const first = said.findIndex(({ role, is_demo }) => role === "assistant" && !is_demo);
  return {
    messages: 2 * steps,
    toolCalls: steps,
    images: 0,
    besides: { ...NOTHING, messages: first < 0 ? said.length : first },
  };
}
