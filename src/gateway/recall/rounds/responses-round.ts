import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import { CALL_FIELDS } from "../../../formats/content/openai-responses-items.ts";
import type { JsonObject } from "../../api/api.ts";
import { objectIn } from "../../api/replies/event-json.ts";
import { isOwnTool } from "../tools.ts";
import type { OwnAnswer, OwnCall, OwnRound } from "./joiner.ts";

const CLIENT_CALLS: ReadonlySet<unknown> = new Set([
  ...CALL_FIELDS.keys(),
  "function_call",
  "computer_call",
  "mcp_approval_request",
]);

/** True for a call of one of the gateway's tools. */
export function isOwnItem({ type, name }: JsonObject): boolean {
  return type === "function_call" && isOwnTool(name);
}

/** True for a call that the client must answer. */
export function isClientItem(item: JsonObject): boolean {
  return CLIENT_CALLS.has(item.type) && !isOwnItem(item);
}

/** True for a message item that is not empty. */
export function isWords({ type, content }: JsonObject): boolean {
  return type === "message" && arrayOf(content).some((part) => textOf(objectOf(part)?.text) !== undefined);
}

/** The round made of these items, if they call the gateway's tools only. */
export function ownRound(items: readonly JsonObject[], status: unknown): OwnRound | undefined {
  if (status !== "completed" || items.some(isClientItem)) return undefined;
  const calls = items.filter(isOwnItem).flatMap((item): readonly OwnCall[] => {
    const id = textOf(item.call_id);
    const input = objectIn(textOf(item.arguments) ?? "{}");
    return id === undefined || !input ? [] : [{ id, name: String(item.name), input }];
  });
  return calls.length === 0 ? undefined : { calls, elements: asInput(items) };
}

/**
 * Items of a reply as request input. Reasoning without its encrypted content is known only to a provider that stores
 * replies; it is dropped, and the other items then lose their ids, which would refer to it.
 */
function asInput(items: readonly JsonObject[]): readonly JsonObject[] {
  const isLost = ({ type, encrypted_content }: JsonObject) =>
    type === "reasoning" && textOf(encrypted_content) === undefined;
  if (!items.some(isLost)) return items;
  return items.filter((item) => !isLost(item)).map(({ id: _, ...item }) => item);
}

/** Call ids of the gateway's calls among the items. */
export function ownCallIds(items: readonly JsonObject[]): readonly string[] {
  return items.filter(isOwnItem).flatMap(({ call_id }) => textOf(call_id) ?? []);
}

/** A response without the gateway's tools; the same object if it lists none. */
export function withoutOwnTools(response: JsonObject): JsonObject {
  const tools = arrayOf(response.tools);
  const isOwn = (tool: unknown) => isOwnTool(objectOf(tool)?.name);
  return tools.some(isOwn) ? { ...response, tools: tools.filter((tool) => !isOwn(tool)) } : response;
}

/** The output items of a response. */
export function itemsOf({ output }: JsonObject): readonly JsonObject[] {
  return arrayOf(output).flatMap((item) => {
    const fields = objectOf(item);
    return fields ? [fields] : [];
  });
}

/** The items with the results of calls. */
export function results(answers: readonly OwnAnswer[]): readonly JsonObject[] {
  return answers.map(({ call, text }) => ({ type: "function_call_output", call_id: call.id, output: text }));
}
