import { toArray, toObject, toText } from "../../../wire/fields.ts";
import { CALL_FIELDS } from "../../../wire/openai-responses/openai-responses-items.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import type { RecallCall, RecallCallResult, RecallRound } from "./round-format.ts";

const CLIENT_CALLS: ReadonlySet<unknown> = new Set([
  ...CALL_FIELDS.keys(),
  "function_call",
  "computer_call",
  "mcp_approval_request",
]);

/** True for a call of one of the gateway's tools. */
export function isRecallItem({ type, name }: WireObject): boolean {
  return type === "function_call" && isRecallTool(name);
}

/** True for a call that the client must answer. */
export function isClientCallItem(item: WireObject): boolean {
  return CLIENT_CALLS.has(item.type) && !isRecallItem(item);
}

/** True for a message item that is not empty. */
export function isTextItem({ type, content }: WireObject): boolean {
  return type === "message" && toArray(content).some((part) => toText(toObject(part)?.text) !== undefined);
}

/** The round made of these items, if they call the gateway's tools only. */
export function findResponsesRound(items: readonly WireObject[], status: unknown): RecallRound | undefined {
  if (status !== "completed" || items.some(isClientCallItem)) return undefined;
  const calls = items.filter(isRecallItem).flatMap((item): readonly RecallCall[] => {
    const id = toText(item.call_id);
    const input = parseObject(toText(item.arguments) ?? "{}");
    return id === undefined || !input ? [] : [{ id, name: String(item.name), input }];
  });
  return calls.length === 0 ? undefined : { calls, elements: toInput(items) };
}

/**
 * Items of a reply as request input. Reasoning without its encrypted content is known only to a provider that stores
 * replies; it is dropped, and the other items then lose their ids, which would refer to it.
 */
function toInput(items: readonly WireObject[]): readonly WireObject[] {
  const isLost = ({ type, encrypted_content }: WireObject) =>
    type === "reasoning" && toText(encrypted_content) === undefined;
  if (!items.some(isLost)) return items;
  return items.filter((item) => !isLost(item)).map(({ id: _, ...item }) => item);
}

/** Call ids of the gateway's calls among the items. */
export function listRecallCallIds(items: readonly WireObject[]): readonly string[] {
  return items.filter(isRecallItem).flatMap(({ call_id }) => toText(call_id) ?? []);
}

/** A response without the gateway's tools; the same object if it lists none. */
export function removeRecallTools(response: WireObject): WireObject {
  const tools = toArray(response.tools);
  const isOwn = (tool: unknown) => isRecallTool(toObject(tool)?.name);
  return tools.some(isOwn) ? { ...response, tools: tools.filter((tool) => !isOwn(tool)) } : response;
}

/** The output items of a response. */
export function getOutputItems({ output }: WireObject): readonly WireObject[] {
  return toArray(output).flatMap((item) => {
    const fields = toObject(item);
    return fields ? [fields] : [];
  });
}

/** The items with the results of calls. */
export function encodeResponsesResults(answers: readonly RecallCallResult[]): readonly WireObject[] {
  return answers.map(({ call, text }) => ({ type: "function_call_output", call_id: call.id, output: text }));
}
