import type { Json } from "../../model/json.ts";
import type { MessageInput, Role } from "../../model/message.ts";
import { isEmptyMessage } from "../block-content.ts";
import { toObject } from "../fields.ts";
import type { DecodedMessage, WireObject } from "../wire.ts";
import {
  decodeMessageItem,
  decodeOutputItem,
  decodeResponsesItem,
  type ItemPart,
} from "./openai-responses-items.ts";

/** The name of the format, for raw parts and meta. */
export const OPENAI_RESPONSES_NAME = "openai-responses";

/** The items of a request; `input` may also be plain text. */
export function parseInputItems(input: unknown): readonly WireObject[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input.map((item) => toObject(item) ?? {}) : [];
}

/** Items that set up the calls from their place on, as instructions do, and belong to no reply. */
const SETTING_ITEMS: ReadonlySet<unknown> = new Set(["additional_tools", "configuration_update"]);

/** The role of an item. */
function getItemRole(item: WireObject): Role {
  const { type = "message", role } = item;
  if (type !== "message") {
    if (SETTING_ITEMS.has(type)) return "system";
    // An approval answers a request of the model, as a result does: both stay, or both leave.
    if (type === "mcp_approval_response") return "tool";
    // Results of the provider's own tools belong to the same reply as the call; their call id is null.
    const isAnswer = typeof type === "string" && type.endsWith("_output") && item.call_id !== null;
    return isAnswer ? "tool" : "assistant";
  }
  if (role === "assistant") return "assistant";
  return role === "system" || role === "developer" ? "system" : "user";
}

/** The parts of an item. */
export function decodeItemParts(item: WireObject): readonly ItemPart[] {
  if ((item.type ?? "message") === "message") return decodeMessageItem(item);
  return [decodeOutputItem(item) ?? decodeResponsesItem(item)];
}

/**
 * Decodes the items of a request: consecutive items of the model form one message, and every other item is a message of
 * its own.
 */
export function decodeResponses(elements: readonly WireObject[]): readonly DecodedMessage[] {
  const messages: DecodedMessage[] = [];
  for (let from = 0; from < elements.length; ) {
    const speaker = getItemRole(elements[from] as WireObject);
    let to = from + 1;
    if (speaker === "assistant")
      while (to < elements.length && getItemRole(elements[to] as WireObject) === "assistant") to++;
    const input = decodeResponsesItems(speaker, elements.slice(from, to));
    if (!isEmptyMessage(input)) messages.push({ input, from, to });
    from = to;
  }
  return messages;
}

/** Decodes one message. */
export function decodeResponsesItems(role: Role, items: readonly WireObject[]): MessageInput {
  const speaker = items[0]?.role;
  const own = speaker === "developer" ? { role: speaker } : {};
  return buildItemsMessage(role, items.flatMap(decodeItemParts), own);
}

/** Builds a message from the parts of its items; `own` are fields of its meta. */
export function buildItemsMessage(
  role: Role,
  items: readonly ItemPart[],
  own: { readonly [field: string]: Json } = {},
): MessageInput {
  const extras = items.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const meta = { ...own, ...(extras.length > 0 && { extras: Object.fromEntries(extras) }) };
  return {
    role,
    parts: items.map(({ part }) => part),
    ...(Object.keys(meta).length > 0 && { meta: { [OPENAI_RESPONSES_NAME]: meta } }),
  };
}

/** Decodes the instructions. */
export function decodeResponsesLead({ instructions }: WireObject): readonly MessageInput[] {
  if (typeof instructions !== "string") return [];
  const part = { type: "text", text: instructions } as const;
  return [buildItemsMessage("system", [{ part }], { field: "instructions" })];
}

/** True for an instruction. */
export function isResponsesLead(item: WireObject): boolean {
  return getItemRole(item) === "system";
}
