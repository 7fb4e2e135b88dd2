import type { Json, MessageInput, PartInput } from "../../index.ts";
import type { Extras } from "../../wire/block-content.ts";
import { dropUndefined, omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { decodeClineMessage } from "../cline/cline-message.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Tags of messages that left the window: they change over time, and overlays represent them. */
export const TAG_FIELDS = ["condenseParent", "truncationParent"];

/** Converts a Roo message; undefined if the element is not one. */
export function decodeRooMessage(element: JsonObject): MessageInput | undefined {
  const value = omitFields(element, TAG_FIELDS) ?? {};
  if (value.type === "reasoning" && value.role === undefined) return decodeReasoningItem(value);
  const message = decodeClineMessage(value, "roo");
  return message && decodeReasoningBlocks(message);
}

/** Converts a separate element with a provider's encrypted reasoning. */
function decodeReasoningItem(value: { readonly [field: string]: Json }): MessageInput {
  const summary = toArray(value.summary).flatMap((line) => toText(toObject(line)?.text) ?? []);
  const text = typeof value.text === "string" ? value.text : summary.join("\n");
  const opaque = value.encrypted_content;
  const known = [...(typeof value.text === "string" ? ["text"] : []), "encrypted_content"];
  return {
    role: "assistant",
    parts: [{ type: "reasoning", text, ...dropUndefined({ opaque }) }],
    meta: { roo: omitFields(value, known) ?? {} },
  };
}

/** Converts Roo's reasoning blocks to parts and removes a second copy of their text. */
function decodeReasoningBlocks(message: MessageInput): MessageInput {
  const extras: [string, { readonly [field: string]: Json }][] = [];
  const parts = (message.parts ?? []).map((part, index): PartInput => {
    const block = part.type === "raw" ? toObject(part.value) : undefined;
    if (block?.type !== "reasoning" || typeof block.text !== "string") return part;
    extras.push([String(index), omitFields(block, ["text"]) ?? {}]);
    return { type: "reasoning", text: block.text };
  });
  const own = message.meta?.roo as { readonly [field: string]: Json } & { readonly extras?: Extras };
  const text = own.reasoning_content;
  const isCopy = parts.some((part) => part.type === "reasoning" && part.text !== "" && part.text === text);
  if (extras.length === 0 && !isCopy) return message;
  const kept = isCopy ? { ...own, reasoning_content: true } : own;
  const all = { ...own.extras, ...Object.fromEntries(extras) };
  return { ...message, parts, meta: { roo: extras.length > 0 ? { ...kept, extras: all } : kept } };
}
