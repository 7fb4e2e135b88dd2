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

/** Decodes one message. */
export function decodeAnthropicElement(marked: WireObject): MessageInput {
  const element = removeElementMarks(marked);
  const { parts, extras } = decodeAnthropicBlocks(element.content, ANTHROPIC_NAME);
  const model = toText(element.model);
  const meta = { ...omitFields(element, KNOWN_FIELDS), ...(extras && { extras }) };
  return {
    role: roleOf(element.role, parts),
    parts,
    ...(model !== undefined && { model }),
    ...(Object.keys(meta).length > 0 && { meta: { [ANTHROPIC_NAME]: meta } }),
  };
}

function roleOf(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "assistant") return "assistant";
  if (role === "system" || role === "developer") return "system";
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
