import { objectOf } from "../../../formats/content/fields.ts";
import {
  type ItemPart,
  partOfItem,
  partsOfMessageItem,
  resultOfItem,
} from "../../../formats/content/openai-responses-items.ts";
import type { MessageInput, Role } from "../../../index.ts";
import type { JsonObject, SaidMessage } from "../api.ts";
import { isNothingSaid } from "../nothing-said.ts";

/** The name of the format, for raw parts and meta. */
export const NAME = "openai-responses";

/** The items of a request; `input` may also be plain text. */
export function itemsOfInput(input: unknown): readonly JsonObject[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input.map((item) => objectOf(item) ?? {}) : [];
}

/** The role of an item. */
export function speakerOf(item: JsonObject): Role {
  const { type = "message", role } = item;
  if (type !== "message") {
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
export function partsOf(item: JsonObject): readonly ItemPart[] {
  if ((item.type ?? "message") === "message") return partsOfMessageItem(item);
  return [resultOfItem(item) ?? partOfItem(item)];
}

/**
 * Decodes the items of a request: consecutive items of the model form one message, and every other item is a message of
 * its own.
 */
export function decode(elements: readonly JsonObject[]): readonly SaidMessage[] {
  const said: SaidMessage[] = [];
  for (let from = 0; from < elements.length; ) {
    const speaker = speakerOf(elements[from] as JsonObject);
    let to = from + 1;
    if (speaker === "assistant")
      while (to < elements.length && speakerOf(elements[to] as JsonObject) === "assistant") to++;
    const input = messageOf(speaker, elements.slice(from, to));
    if (!isNothingSaid(input)) said.push({ input, from, to });
    from = to;
  }
  return said;
}

/** Decodes one message. */
export function messageOf(role: Role, items: readonly JsonObject[]): MessageInput {
  const all = items.flatMap(partsOf);
  const extras = all.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const speaker = items[0]?.role;
  const meta = {
    ...(speaker === "developer" && { role: speaker }),
    ...(extras.length > 0 && { extras: Object.fromEntries(extras) }),
  };
  return {
    role,
    parts: all.map(({ part }) => part),
    ...(Object.keys(meta).length > 0 && { meta: { [NAME]: meta } }),
  };
}

/** True for an instruction. */
export function isLead(item: JsonObject): boolean {
  return speakerOf(item) === "system";
}
