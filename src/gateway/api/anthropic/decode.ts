import { contentOfBlocks } from "../../../formats/content/anthropic-blocks.ts";
import { fieldsBesides, textOf } from "../../../formats/content/fields.ts";
import type { MessageInput, PartInput, Role } from "../../../index.ts";
import type { JsonObject, SaidMessage } from "../api.ts";
import { unmarkedElement } from "../cache-marks.ts";
import { decodeEach } from "../decode-each.ts";

/** The name of the format, for raw parts and meta. */
export const NAME = "anthropic";

const KNOWN = [
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
export function decode(elements: readonly JsonObject[]): readonly SaidMessage[] {
  return decodeEach(elements, messageOf);
}

/** Decodes one message. */
export function messageOf(marked: JsonObject): MessageInput {
  const element = unmarkedElement(marked);
  const { parts, extras } = contentOfBlocks(element.content, NAME);
  const model = textOf(element.model);
  const meta = { ...fieldsBesides(element, KNOWN), ...(extras && { extras }) };
  return {
    role: roleOf(element.role, parts),
    parts,
    ...(model !== undefined && { model }),
    ...(Object.keys(meta).length > 0 && { meta: { [NAME]: meta } }),
  };
}

function roleOf(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "assistant") return "assistant";
  if (role === "system" || role === "developer") return "system";
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
