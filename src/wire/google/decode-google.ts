import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { MessageInput, Role } from "../../model/message.ts";
import type { PartInput } from "../../model/part.ts";
import { decodeElements } from "../block-content.ts";
import { omitFields, toArray, toObject } from "../fields.ts";
import type { DecodedMessage, WireObject } from "../wire.ts";
import { decodeGoogleParts, GOOGLE_NAME } from "./google-parts.ts";

const KNOWN_FIELDS = ["role", "parts"];

/** Decodes the contents of a request, one message per element. */
export function decodeGoogle(elements: readonly WireObject[]): readonly DecodedMessage[] {
  return decodeElements(elements, (element) => decodeGoogleElement(element));
}

/** Decodes one content of a request or reply. */
export function decodeGoogleElement(content: WireObject, model?: string): MessageInput {
  const { parts, extras } = decodeGoogleParts(content.parts);
  const rest = omitFields(content, KNOWN_FIELDS);
  return {
    role: toRole(content.role, parts),
    parts,
    ...dropUndefined({ model }),
    ...((rest || extras) && { meta: { [GOOGLE_NAME]: { ...rest, ...dropUndefined({ extras }) } } }),
  };
}

/** Decodes the system instruction, which the API accepts under two names and in three forms. */
export function decodeGoogleLead(fields: WireObject): readonly MessageInput[] {
  const given = fields.systemInstruction ?? fields.system_instruction;
  if (typeof given === "string") return [{ role: "system", text: given }];
  const parts = Array.isArray(given) ? given : toObject(given)?.parts;
  if (toArray(parts).length === 0) return [];
  return [{ ...decodeGoogleElement({ parts }), role: "system" }];
}

/** True for a content, as opposed to a request or response with contents. */
export function isGoogleContent({ parts }: WireObject): boolean {
  return Array.isArray(parts);
}

/** Responses of functions are sent in the role of the user, or in the older role "function". */
function toRole(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "model") return "assistant";
  if (role === "system") return "system";
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
