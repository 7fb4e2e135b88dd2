import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { objectIn } from "../../api/replies/event-json.ts";
import { isOwnTool } from "../tools.ts";
import type { OwnAnswer, OwnCall, OwnRound } from "./joiner.ts";

/** Fields of a reply that are sent back with it. */
const KEPT = ["role", "content", "reasoning_content", "reasoning_details", "tool_calls"];

/** Finish reasons that leave a call complete. */
const WHOLE: readonly unknown[] = ["tool_calls", "stop", "function_call"];

/** Separator between the texts of two rounds. */
export const BETWEEN = "\n\n";

/** True for an entry of `tool_calls` that calls one of the gateway's tools. */
export function isOwnEntry(entry: unknown): boolean {
  return isOwnTool(objectOf(objectOf(entry)?.function)?.name);
}

/** True if a message has a call that the client must answer. */
export function hasClientCall({ tool_calls, function_call }: JsonObject): boolean {
  return arrayOf(tool_calls).some((entry) => !isOwnEntry(entry)) || objectOf(function_call) !== undefined;
}

/** The round made of this message, if it calls the gateway's tools only. */
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

/** The finish reason for a client that does not see the gateway's calls. */
export function shownReason(reason: unknown, isCalling: boolean): unknown {
  return reason === "tool_calls" && !isCalling ? "stop" : reason;
}

/** The messages with the results of calls. */
export function results(answers: readonly OwnAnswer[]): readonly JsonObject[] {
  return answers.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
}
