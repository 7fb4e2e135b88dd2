import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { objectIn } from "../../api/replies/event-json.ts";
import { isOwnTool } from "../tools.ts";
import type { OwnAnswer, OwnCall, OwnRound } from "./joiner.ts";

/** Fields of a reply that go back with it. */
const KEPT = ["role", "content", "reasoning_content", "reasoning_details", "tool_calls"];

/** Reasons to stop that leave a call whole. */
const WHOLE: readonly unknown[] = ["tool_calls", "stop", "function_call"];

/** What stands between the words of two rounds. */
export const BETWEEN = "\n\n";

/** True for an entry of `tool_calls` that calls a tool of ours. */
export function isOwnEntry(entry: unknown): boolean {
  return isOwnTool(objectOf(objectOf(entry)?.function)?.name);
}

/** True if a message calls something that the client has to answer. */
export function hasClientCall({ tool_calls, function_call }: JsonObject): boolean {
  return arrayOf(tool_calls).some((entry) => !isOwnEntry(entry)) || objectOf(function_call) !== undefined;
}

/** The round that a message is, if it calls tools of ours and no others. */
export function ownRound(message: JsonObject, finishReason: unknown): OwnRound | undefined {
  if (!WHOLE.includes(finishReason) || hasClientCall(message)) return undefined;
  const calls = arrayOf(message.tool_calls).flatMap((entry): readonly OwnCall[] => {
    const fields = objectOf(entry);
    const id = textOf(fields?.id);
    const called = objectOf(fields?.function);
    const input = objectIn(textOf(called?.arguments) ?? "{}");
    return id === undefined || !input ? [] : [{ id, name: String(called?.name), input }];
  });
  if (calls.length === 0) return undefined;
  const ids = new Set(calls.map(({ id }) => id));
  const whole = arrayOf(message.tool_calls).filter((entry) => ids.has(String(objectOf(entry)?.id)));
  const kept = Object.entries({ ...message, tool_calls: whole }).filter(
    ([field, value]) => KEPT.includes(field) && (value !== null || field === "content"),
  );
  return { calls, elements: [{ role: "assistant", ...Object.fromEntries(kept) }] };
}

/** Why a reply stopped, for someone who sees no calls of ours. */
export function shownReason(reason: unknown, isCalling: boolean): unknown {
  return reason === "tool_calls" && !isCalling ? "stop" : reason;
}

/** The messages that answer calls. */
export function results(answers: readonly OwnAnswer[]): readonly JsonObject[] {
  return answers.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
}
