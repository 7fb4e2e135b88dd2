import { isObject } from "../../wire/content-blocks.ts";
import type { WireObject } from "../../wire/wire.ts";
import type { Violation } from "./violation.ts";

/**
 * Rules of OpenAI's Chat Completions API that messages violate: results directly follow their calls, and every result
 * has a call.
 */
export function findChatViolations(elements: readonly WireObject[]): readonly Violation[] {
  const found: Violation[] = [];
  let open = new Map<string, number>();
  let called = new Set<string>();
  const close = () => {
    for (const [id, element] of open) found.push({ rule: "call-without-result", element, id });
    open = new Map();
    called = new Set();
  };
  for (const [element, { role, tool_calls, tool_call_id }] of elements.entries()) {
    if (role === "tool") {
      const id = String(tool_call_id);
      if (!called.has(id)) found.push({ rule: "result-without-call", element, id });
      open.delete(id);
      continue;
    }
    close();
    if (role !== "assistant" || !Array.isArray(tool_calls)) continue;
    for (const { id } of tool_calls.filter(isObject)) {
      open.set(String(id), element);
      called.add(String(id));
    }
  }
  close();
  return found;
}

/** True for an item that the model produced. */
const isOutput = ({ type, role }: WireObject): boolean =>
  type === undefined || type === "message" ? role === "assistant" : String(type).endsWith("_call");

const isCall = ({ type, call_id }: WireObject) =>
  String(type).endsWith("_call") && typeof call_id === "string";
const isAnswer = ({ type, call_id }: WireObject) =>
  String(type).endsWith("_output") && typeof call_id === "string";
const isReasoning = ({ type }: WireObject) => type === "reasoning";

/** Rules of OpenAI's Responses API that items violate. */
export function findResponsesViolations(elements: readonly WireObject[]): readonly Violation[] {
  const found: Violation[] = [];
  const called = new Set<unknown>();
  // A call may be among the items that are only referenced.
  const isNamed = elements.some(({ type }) => type === "item_reference");
  const answer = new Set(elements.filter(isAnswer).map(({ call_id }) => call_id));
  for (const [element, own] of elements.entries()) {
    const id = String(own.call_id);
    if (isCall(own)) {
      called.add(own.call_id);
      if (!answer.has(own.call_id)) found.push({ rule: "call-without-result", element, id });
    }
    if (isAnswer(own) && !called.has(own.call_id) && !isNamed)
      found.push({ rule: "result-without-call", element, id });
    if (!isReasoning(own)) continue;
    const next = elements.slice(element + 1).find((item) => !isReasoning(item));
    if (!next || !isOutput(next)) found.push({ rule: "reasoning-without-item", element, id: String(own.id) });
  }
  return found;
}

/** Items that have lost the reasoning before them; the provider refuses stored items without it. */
export function findLostReasoning(
  before: readonly WireObject[],
  after: readonly WireObject[],
): readonly Violation[] {
  const reasonOf = (elements: readonly WireObject[]) =>
    new Map(
      elements.flatMap((own, element): readonly (readonly [string, string])[] => {
        const previous = elements[element - 1];
        const isLed = previous && isReasoning(previous) && !isReasoning(own);
        return isLed && typeof own.id === "string" ? [[own.id, String(previous.id)]] : [];
      }),
    );
  const had = reasonOf(before);
  const has = reasonOf(after);
  return after.flatMap(({ id }, element): readonly Violation[] => {
    const isLost = typeof id === "string" && had.has(id) && has.get(id) !== had.get(id);
    return isLost ? [{ rule: "item-without-reasoning", element, id }] : [];
  });
}
