import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { MessageInput, Role } from "../../model/message.ts";
import type { PartInput } from "../../model/part.ts";
import { removeElementMarks } from "../cache-marks.ts";
import { decodeElements } from "../decode-elements.ts";
import { omitFields, toText } from "../fields.ts";
import type { DecodedMessage, WireObject } from "../wire.ts";
import { decodeAnthropicBlocks } from "./anthropic-block-decode.ts";

/** The name of the format, for raw parts and meta. */
export const ANTHROPIC_NAME = "anthropic";

const KNOWN_FIELDS = [
  "type",
  "role",
  "content",
  "id",
  "model",
  "usage",
  "stop_reason",
  "stop_sequence",
  "container",
];

/** Decodes the messages of a request, one per element. */
export function decodeAnthropic(elements: readonly WireObject[]): readonly DecodedMessage[] {
  return decodeElements(elements, decodeAnthropicElement);
}

/** Decodes one message of a request, without its cache markers. */
export function decodeAnthropicElement(marked: WireObject): MessageInput {
  return decodeAnthropicMessage(removeElementMarks(marked), KNOWN_FIELDS);
}

/** Decodes one message; fields other than `known` go into its meta. */
export function decodeAnthropicMessage(message: WireObject, known: readonly string[]): MessageInput {
  const { parts, extras } = decodeAnthropicBlocks(message.content, ANTHROPIC_NAME);
  const model = toText(message.model);
  const rest = omitFields(message, known);
  const role = toRole(message.role, parts);
  if (model === undefined && !rest && !extras) return { role, parts };
  return {
    role,
    parts,
    ...dropUndefined({ model }),
    ...((rest || extras) && { meta: { [ANTHROPIC_NAME]: { ...rest, ...dropUndefined({ extras }) } } }),
  };
}

/** Decodes the system prompt. */
export function decodeAnthropicLead({ system }: WireObject): readonly MessageInput[] {
  if (typeof system !== "string" && !Array.isArray(system)) return [];
  return [decodeAnthropicElement({ role: "system", content: system })];
}

/** True for a message, as opposed to a request or response with messages. */
export function isAnthropicMessage({ role, content }: WireObject): boolean {
  return typeof role === "string" && (typeof content === "string" || Array.isArray(content));
}

/** Tool results are sent in the role of the user. */
function toRole(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "assistant") return "assistant";
  if (role === "system" || role === "developer") return "system";
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
