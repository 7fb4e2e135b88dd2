import type { Json, MessageInput, Role } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import { omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import type { RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { hashRecordVersion } from "./record-version.ts";

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
};

/** Identity of a message record. */
interface MessageIdentity {
  readonly id: string;
  readonly at: number | undefined;
  readonly format: "cline" | "roo";
}

/** Builds the record of a conversation element; an element that is not a message is kept raw. */
export function buildClineMessageRecord(value: JsonObject, { id, at, format }: MessageIdentity): RecordItem {
  const message = decodeClineMessage(value, format);
  return {
    type: "record",
    id,
    version: hashRecordVersion(value),
    ...dropUndefined({ at }),
    body: message ? { kind: "message", message } : { kind: "raw", value: { element: value as Json } },
  };
}

/**
 * Converts a message, one part per block in the same order; undefined if it is not a message. Fields that our message
 * cannot represent go into its meta, so the same message can be written again.
 */
export function decodeClineMessage(value: JsonObject, format: "cline" | "roo"): MessageInput | undefined {
  const { role, content } = value;
  const known = typeof role === "string" && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (!known || (typeof content !== "string" && !Array.isArray(content))) return undefined;
  const { parts, extras } = decodeAnthropicBlocks(content, format);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  const lists = findListedResults(content);
  const forms = dropUndefined({
    role: role === "developer" ? role : undefined,
    content: typeof content === "string" ? "text" : undefined,
    lists: lists.length > 0 ? lists : undefined,
    extras,
  });
  const meta = { [format]: { ...omitFields(value, ["role", "content"]), ...forms } as Json };
  const model = toText(toObject(value.modelInfo)?.modelId);
  return { role: isAnswer ? "tool" : known, parts, meta, ...dropUndefined({ model }) };
}

/** Returns the indexes of results that are a list with one text, which our parts do not distinguish from plain text. */
function findListedResults(content: unknown): readonly number[] {
  return toArray(content).flatMap((block, index) => {
    const result = toObject(block);
    const [first, ...more] = toArray(result?.content);
    const isOne = result?.type === "tool_result" && more.length === 0 && toObject(first)?.type === "text";
    return isOne ? [index] : [];
  });
}
