import type { Json, MessageInput, Role } from "../../index.ts";
import { contentOfBlocks } from "../content/anthropic-blocks.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "../content/fields.ts";
import type { RecordItem } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { versionOf } from "./version.ts";

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
};

/** Identity of a message record. */
export interface MessageTarget {
  readonly id: string;
  readonly at: number | undefined;
  readonly format: "cline" | "roo";
}

/** Builds the record of a conversation element; an element that is not a message is kept raw. */
export function messageRecord(value: JsonObject, { id, at, format }: MessageTarget): RecordItem {
  const message = messageOf(value, format);
  return {
    type: "record",
    id,
    version: versionOf(value),
    ...definedFields({ at }),
    body: message ? { kind: "message", message } : { kind: "raw", value: { element: value as Json } },
  };
}

/**
 * Converts a message, one part per block in the same order; undefined if it is not a message. Fields that our message
 * cannot represent go into its meta, so the same message can be written again.
 */
export function messageOf(value: JsonObject, format: "cline" | "roo"): MessageInput | undefined {
  const { role, content } = value;
  const known = typeof role === "string" && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (!known || (typeof content !== "string" && !Array.isArray(content))) return undefined;
  const { parts, extras } = contentOfBlocks(content, format);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  const lists = listedResults(content);
  const forms = definedFields({
    role: role === "developer" ? role : undefined,
    content: typeof content === "string" ? "text" : undefined,
    lists: lists.length > 0 ? lists : undefined,
    extras,
  });
  const meta = { [format]: { ...fieldsBesides(value, ["role", "content"]), ...forms } as Json };
  const model = textOf(objectOf(value.modelInfo)?.modelId);
  return { role: isAnswer ? "tool" : known, parts, meta, ...definedFields({ model }) };
}

/** Returns the indexes of results that are a list with one text, which our parts do not distinguish from plain text. */
function listedResults(content: unknown): readonly number[] {
  return arrayOf(content).flatMap((block, index) => {
    const result = objectOf(block);
    const [first, ...more] = arrayOf(result?.content);
    const isOne = result?.type === "tool_result" && more.length === 0 && objectOf(first)?.type === "text";
    return isOne ? [index] : [];
  });
}
