import type { ToolCallPart } from "../../model/part.ts";
import { toObject } from "../fields.ts";
import type { WireObject } from "../wire.ts";

/** An entry of `tool_calls`, or a `function_call`, with the input of an edited part; its other fields stay. */
export function editedChatCall(own: WireObject, { input }: ToolCallPart): WireObject {
  const custom = toObject(own.custom);
  const text = typeof input === "string" && custom ? input : JSON.stringify(input);
  if (custom) return { ...own, custom: { ...custom, input: text } };
  const target = toObject(own.function);
  return target ? { ...own, function: { ...target, arguments: text } } : { ...own, arguments: text };
}

/** The entry of `tool_calls` for a part without one; `extra` are fields that an import found on it. */
export function newChatCall({ callId, name, input }: ToolCallPart, extra: WireObject = {}): WireObject {
  const { arguments: written, ...rest } = extra;
  if (rest.type === "custom") return { id: callId, ...rest, custom: { name, input } };
  const text = typeof written === "string" ? written : JSON.stringify(input);
  return { id: callId, type: "function", ...rest, function: { name, arguments: text } };
}
