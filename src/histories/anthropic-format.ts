import { anthropicWire } from "../wire/anthropic/anthropic-wire.ts";
import { decodeAnthropicMessage } from "../wire/anthropic/decode-anthropic.ts";
import { toObject, toText, toTime } from "../wire/fields.ts";
import { NO_RESULT } from "../wire/result-marks.ts";
import type { Format } from "./port/format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { MessageDecoder, WireDialect, WireRecord } from "./wire/wire-dialect.ts";
import { createWireFormat } from "./wire/wire-format.ts";
import { decodeAnthropicUsage } from "./wire/wire-usage.ts";

/** Message fields that are decoded; other fields go into `meta`. */
const KNOWN_FIELDS = ["type", "role", "content", "id", "model", "usage", "timestamp"];

const dialect: WireDialect = {
  name: "anthropic",
  title: anthropicWire.title,
  messageFields: [anthropicWire.messagesField],
  leadFields: anthropicWire.leadFields,
  responseFields: ["id", "type", "role", "content", "model", "stop_reason", "stop_sequence", "usage"],
  makeDecoder: () => decoder,
  *decodeLead(value, place) {
    yield* decodeMessage({ role: "system", content: value }, place);
  },
  *decodeResponse(fields, place) {
    if (typeof fields.role === "string") yield* decodeMessage(fields, place);
  },
  isMessage: anthropicWire.isMessage,
};

/** Conversations in the format of Anthropic's Messages API. */
export const anthropicFormat: Format = createWireFormat(dialect);

const decoder: MessageDecoder = { decode: decodeMessage, isSettled: true, end: () => [] };

function* decodeMessage(message: JsonObject, place: string): Generator<WireRecord> {
  const id = toText(message.id) ?? place;
  const model = toText(message.model);
  const at = toTime(message.timestamp);
  const content = removeFillers(message.content);
  if (content === undefined) return;
  // An import keeps cache markers and stop reasons, which the gateway leaves to the request.
  const decoded = decodeAnthropicMessage({ ...message, content }, KNOWN_FIELDS);
  yield { id, ...(at !== undefined && { at }), body: { kind: "message", message: decoded } };
  const usage = decodeAnthropicUsage(message.usage, { request: toText(message.id), model });
  if (usage) yield { id: `${id}:usage`, ...(at !== undefined && { at }), body: usage };
}

/**
 * Removes placeholder results, which exist only because a request requires a result for every call; returns undefined
 * if nothing else remains.
 */
function removeFillers(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const isFiller = (block: unknown) => {
    const { type, is_error, content } = toObject(block) ?? {};
    return type === "tool_result" && is_error === true && content === NO_RESULT;
  };
  const kept = content.filter((block) => !isFiller(block));
  return kept.length === 0 && content.length > 0 ? undefined : kept;
}
