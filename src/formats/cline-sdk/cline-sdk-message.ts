import type { Json, MessageInput, Role, Usage } from "../../index.ts";
import { dropUndefined, omitFields, toNumber, toObject, toText } from "../../wire/fields.ts";
import { hashRecordVersion } from "../cline/record-version.ts";
import { subtractCachedTokens } from "../cline/shown-message.ts";
import type { Item } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { decodeClineSdkContent } from "./cline-sdk-content.ts";

/** Fields of the file that apply to all its messages. */
export type FileFields = ReadonlyMap<string, unknown>;

/** Decodes an element of the conversation: a message with its usage, or a raw record. */
export function* decodeClineSdkElement(
  value: JsonObject,
  { id, at }: { readonly id: string; readonly at: number },
  fields: FileFields,
): Generator<Item> {
  const message = decodeClineSdkMessage(value, fields);
  // The SDK sometimes regenerates ids and times of an unchanged message.
  const version = hashRecordVersion(omitFields(value, ["id", "ts"]));
  if (!message) {
    yield { type: "record", id, version, at, body: { kind: "raw", value: { element: value as Json } } };
    return;
  }
  yield { type: "record", id, version, at, body: { kind: "message", message } };
  const usage = toUsage(toObject(value.metrics));
  const model = toObject(value.modelInfo);
  if (usage)
    yield {
      type: "record",
      id: `${id}:usage`,
      version: hashRecordVersion(usage),
      at,
      body: {
        kind: "usage",
        usage,
        request: id,
        ...dropUndefined({ model: toText(model?.id), provider: toText(model?.provider) }),
      },
    };
}

/** Converts an SDK message; undefined if the element is not one. */
export function decodeClineSdkMessage(value: JsonObject, fields: FileFields): MessageInput | undefined {
  const { role, content } = value;
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const { parts, extras } = decodeClineSdkContent(content);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  // Omit fields that repeat those of the file.
  const repeated = ["agent", "sessionId"].filter((field) => value[field] === fields.get(field));
  const rest = omitFields(value, ["role", "content", "metrics", ...repeated]);
  const own = { ...rest, ...dropUndefined({ extras }) };
  const speaker: Role = isAnswer ? "tool" : role;
  return {
    role: speaker,
    parts,
    ...dropUndefined({ model: toText(toObject(value.modelInfo)?.id) }),
    ...(Object.keys(own).length > 0 && { meta: { "cline-sdk": own as Json } }),
  };
}

function toUsage(metrics: JsonObject | undefined): Usage | undefined {
  const usage = dropUndefined({
    inputTokens: toNumber(metrics?.inputTokens),
    outputTokens: toNumber(metrics?.outputTokens),
    cacheReadTokens: toNumber(metrics?.cacheReadTokens),
    cacheWriteTokens: toNumber(metrics?.cacheWriteTokens),
    cost: toNumber(metrics?.cost),
  });
  return Object.keys(usage).length > 0 ? subtractCachedTokens(usage) : undefined;
}
