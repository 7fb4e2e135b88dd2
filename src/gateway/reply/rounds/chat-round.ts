import { toArray, toObject, toText } from "../../../wire/fields.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import type { RecallCall, RecallCallResult, RecallRound } from "./round-format.ts";

/** Fields of a reply that are sent back with it. */
const KEPT_FIELDS = ["role", "content", "reasoning_content", "reasoning_details", "tool_calls"];

/** Finish reasons that leave a call complete. */
const COMPLETE_REASONS: readonly unknown[] = ["tool_calls", "stop", "function_call"];

/** Separator between the texts of two rounds. */
export const TEXT_SEPARATOR = "\n\n";

/** True for an entry of `tool_calls` that calls one of the gateway's tools. */
export function isRecallEntry(entry: unknown): boolean {
  return isRecallTool(toObject(toObject(entry)?.function)?.name);
}

/** True if a message has a call that the client must answer. */
export function hasClientCall({ tool_calls, function_call }: WireObject): boolean {
  return toArray(tool_calls).some((entry) => !isRecallEntry(entry)) || toObject(function_call) !== undefined;
}

/** The round made of this message, if it calls the gateway's tools only. */
export function findChatRound(message: WireObject, finishReason: unknown): RecallRound | undefined {
  if (!COMPLETE_REASONS.includes(finishReason) || hasClientCall(message)) return undefined;
  const calls = toArray(message.tool_calls).flatMap((entry): readonly RecallCall[] => {
    const fields = toObject(entry);
    const id = toText(fields?.id);
    const called = toObject(fields?.function);
    const input = parseObject(toText(called?.arguments) ?? "{}");
    return id === undefined || !input ? [] : [{ id, name: String(called?.name), input }];
  });
  if (calls.length === 0) return undefined;
  const ids = new Set(calls.map(({ id }) => id));
  const whole = toArray(message.tool_calls).filter((entry) => ids.has(String(toObject(entry)?.id)));
  const kept = Object.entries({ ...message, tool_calls: whole }).filter(
    ([field, value]) => KEPT_FIELDS.includes(field) && (value !== null || field === "content"),
  );
  return { calls, elements: [{ role: "assistant", ...Object.fromEntries(kept) }] };
}

/** The finish reason for a client that does not see the gateway's calls. */
export function toShownFinishReason(reason: unknown, isCalling: boolean): unknown {
  return reason === "tool_calls" && !isCalling ? "stop" : reason;
}

/** The messages with the results of calls. */
export function encodeChatResults(answers: readonly RecallCallResult[]): readonly WireObject[] {
  return answers.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
}
