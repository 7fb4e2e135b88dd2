import type { Json, MessageInput, Role, Usage } from "../../index.ts";
import { withoutCached } from "../cline/shown-message.ts";
import { versionOf } from "../cline/version.ts";
import { definedFields, fieldsBesides, numberOf, objectOf, textOf } from "../content/fields.ts";
import type { Item } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { contentOf } from "./content.ts";

/** Fields of the file that apply to all its messages. */
export type FileFields = ReadonlyMap<string, unknown>;

/** Decodes an element of the conversation: a message with its usage, or a raw record. */
export function* messageItems(
  value: JsonObject,
  { id, at }: { readonly id: string; readonly at: number },
  fields: FileFields,
): Generator<Item> {
  const message = messageOf(value, fields);
  // The SDK sometimes regenerates ids and times of an unchanged message.
  const version = versionOf(fieldsBesides(value, ["id", "ts"]));
  if (!message) {
    yield { type: "record", id, version, at, body: { kind: "raw", value: { element: value as Json } } };
    return;
  }
  yield { type: "record", id, version, at, body: { kind: "message", message } };
  const usage = usageOf(objectOf(value.metrics));
  const model = objectOf(value.modelInfo);
  if (usage)
    yield {
      type: "record",
      id: `${id}:usage`,
      version: versionOf(usage),
      at,
      body: {
        kind: "usage",
        usage,
        request: id,
        ...definedFields({ model: textOf(model?.id), provider: textOf(model?.provider) }),
      },
    };
}

/** Converts an SDK message; undefined if the element is not one. */
export function messageOf(value: JsonObject, fields: FileFields): MessageInput | undefined {
  const { role, content } = value;
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const { parts, extras } = contentOf(content);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  // Omit fields that repeat those of the file.
  const repeated = ["agent", "sessionId"].filter((field) => value[field] === fields.get(field));
  const rest = fieldsBesides(value, ["role", "content", "metrics", ...repeated]);
  const own = { ...rest, ...definedFields({ extras }) };
  const speaker: Role = isAnswer ? "tool" : role;
  return {
    role: speaker,
    parts,
    ...definedFields({ model: textOf(objectOf(value.modelInfo)?.id) }),
    ...(Object.keys(own).length > 0 && { meta: { "cline-sdk": own as Json } }),
  };
}

function usageOf(metrics: JsonObject | undefined): Usage | undefined {
  const usage = definedFields({
    inputTokens: numberOf(metrics?.inputTokens),
    outputTokens: numberOf(metrics?.outputTokens),
    cacheReadTokens: numberOf(metrics?.cacheReadTokens),
    cacheWriteTokens: numberOf(metrics?.cacheWriteTokens),
    cost: numberOf(metrics?.cost),
  });
  return Object.keys(usage).length > 0 ? withoutCached(usage) : undefined;
}
