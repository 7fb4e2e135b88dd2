import type { Json, Role } from "../kernel/index.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { anthropicWire } from "../wire/anthropic/anthropic-wire.ts";
import { decodeAnthropicMessage } from "../wire/anthropic/decode-anthropic.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../wire/fields.ts";
import { collectLabeledMedia, hasMediaMark, withMedia } from "../wire/openai-chat/openai-chat-media.ts";
import { decodeChatMessage } from "../wire/openai-chat/openai-chat-message.ts";
import { openaiChatWire } from "../wire/openai-chat/openai-chat-wire.ts";
import { buildItemsMessage } from "../wire/openai-responses/decode-responses.ts";
import {
  decodeMessageItem,
  decodeOutputItem,
  decodeResponsesItem,
  type ItemPart,
} from "../wire/openai-responses/openai-responses-items.ts";
import { openaiResponsesWire } from "../wire/openai-responses/openai-responses-wire.ts";
import { NO_RESULT } from "../wire/result-marks.ts";
import type { Format } from "./port/format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { MessageDecoder, WireDialect, WireRecord } from "./wire/wire-dialect.ts";
import { createWireFormat } from "./wire/wire-format.ts";
import { decodeAnthropicUsage, decodeOpenaiUsage } from "./wire/wire-usage.ts";

/** Message fields that are decoded; other fields go into `meta`. */
const KNOWN_FIELDS = ["type", "role", "content", "id", "model", "usage", "timestamp"];

const anthropicDialect: WireDialect = {
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
export const anthropicFormat: Format = createWireFormat(anthropicDialect);

const decoder: MessageDecoder = { decode: decodeMessage, isSettled: true, end: () => [] };

function* decodeMessage(message: JsonObject, place: string): Generator<WireRecord> {
  const id = toText(message.id) ?? place;
  const model = toText(message.model);
  const at = toTime(message.timestamp);
  const content = removeFillers(message.content);
  if (content === undefined) return;
  // An import keeps cache markers and stop reasons, which the gateway leaves to the request.
  const decoded = decodeAnthropicMessage({ ...message, content }, KNOWN_FIELDS);
  yield dropUndefined({ id, at, body: { kind: "message", message: decoded } });
  const usage = decodeAnthropicUsage(message.usage, { request: toText(message.id), model });
  if (usage) yield dropUndefined({ id: `${id}:usage`, at, body: usage });
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

const chatDialect: WireDialect = {
  name: "openai-chat",
  title: openaiChatWire.title,
  messageFields: [openaiChatWire.messagesField],
  leadFields: openaiChatWire.leadFields,
  responseFields: ["id", "object", "created", "model", "choices", "usage", "role", "content", "tool_calls"],
  makeDecoder,
  decodeLead: () => [],
  decodeResponse,
  isMessage: openaiChatWire.isMessage,
};

/** Conversations in the format of OpenAI's Chat Completions API and its many compatible servers. */
export const openaiChatFormat: Format = createWireFormat(chatDialect);

function* decodeResponse(fields: JsonObject, place: string, decoder: MessageDecoder): Generator<WireRecord> {
  const [first, ...others] = toArray(fields.choices);
  const answer = toObject(toObject(first)?.message) ?? (chatDialect.isMessage(fields) ? fields : undefined);
  const id = toText(fields.id) ?? place;
  const model = toText(fields.model);
  const created = toNumber(fields.created);
  const at = created === undefined ? undefined : toTime(created * 1000);
  if (answer) {
    const choice = omitFields(toObject(first) ?? {}, ["index", "message"]);
    yield* decoder.decode({ ...answer, ...dropUndefined({ id, model, timestamp: at, choice }) }, place);
  }
  yield* decoder.end();
  for (const [index, other] of others.entries())
    yield { id: `${id}:choice-${index + 1}`, body: { kind: "raw", value: other as Json } };
  const usage = decodeOpenaiUsage(fields.usage, { request: toText(fields.id), model });
  if (usage) yield dropUndefined({ id: `${id}:usage`, at, body: usage });
}

function makeDecoder(): MessageDecoder {
  /** Messages whose media follow in a later message, and results in between. */
  let held: WireRecord[] = [];
  /** Call id for the next message with the legacy role "function". */
  let functionCall = "";
  return {
    *decode(message, place) {
      const id = toText(message.id) ?? place;
      if (toObject(message.function_call)) functionCall = `call-${place}`;
      const decoded = decodeChatMessage(message, functionCall);
      if (!decoded) return;
      const { parts = [] } = decoded;
      const media = held.length > 0 && decoded.role === "user" ? collectLabeledMedia(parts) : undefined;
      if (media) {
        const filled = held.map((piece) => fillMedia(piece, media));
        held = [];
        return yield* filled;
      }
      const at = toTime(message.timestamp);
      const piece: WireRecord = dropUndefined({
        id,
        at,
        body: { kind: "message", message: decoded },
      });
      if (held.length === 0 || decoded.role !== "tool") yield* this.end();
      if (held.length > 0 || (decoded.role !== "user" && parts.some(hasMediaMark))) {
        held.push(piece);
        return;
      }
      yield piece;
      const usage = decodeOpenaiUsage(message.usage, { request: toText(message.id), model: decoded.model });
      if (usage) yield dropUndefined({ id: `${id}:usage`, at, body: usage });
    },
    get isSettled() {
      return held.length === 0;
    },
    *end() {
      const pieces = held;
      held = [];
      yield* pieces;
    },
  };
}

function fillMedia(piece: WireRecord, media: Parameters<typeof withMedia>[1]): WireRecord {
  if (piece.body.kind !== "message") return piece;
  const { message } = piece.body;
  const parts = message.parts?.map((part) => withMedia(part, media)) ?? [];
  return { ...piece, body: { kind: "message", message: { ...message, parts } } };
}

const responsesDialect: WireDialect = {
  name: "openai-responses",
  title: openaiResponsesWire.title,
  messageFields: [openaiResponsesWire.messagesField, "output"],
  leadFields: openaiResponsesWire.leadFields,
  responseFields: ["id", "object", "created_at", "model", "usage"],
  makeDecoder: makeResponsesDecoder,
  *decodeLead(value, place) {
    const [lead] = openaiResponsesWire.decodeLead({ instructions: value });
    if (lead) yield { id: place, body: { kind: "message", message: lead } };
    else if (value !== null)
      yield { id: place, body: { kind: "raw", value: { instructions: value as Json } } };
  },
  decodeResponse: decodeResponsesReply,
  isMessage: openaiResponsesWire.isMessage,
};

/** Conversations in the format of OpenAI's Responses API. */
export const openaiResponsesFormat: Format = createWireFormat(responsesDialect);

function* decodeResponsesReply(
  fields: JsonObject,
  place: string,
  decoder: MessageDecoder,
): Generator<WireRecord> {
  const created = toNumber(fields.created_at);
  const at = created === undefined ? undefined : toTime(created * 1000);
  const model = toText(fields.model);
  const usage = decodeOpenaiUsage(fields.usage, { request: toText(fields.id), model });
  if (!usage) return;
  yield* decoder.end();
  yield dropUndefined({ id: `${toText(fields.id) ?? place}:usage`, at, body: usage });
}

/**
 * Merges the items of one model turn into one message; a turn ends at another role or between two adjacent messages.
 * The wire joins those too, because a request does not show where a reply ended; a file with responses does.
 */
function makeResponsesDecoder(): MessageDecoder {
  let turn: ItemPart[] = [];
  let turnId = "";
  let lastType: unknown;
  return {
    *decode(item, place) {
      const id = toText(item.id) ?? place;
      const type = item.type ?? "message";
      const isMessage = type === "message";
      const result = decodeOutputItem(item);
      if (result) {
        yield* this.end();
        const isFiller = result.part.type === "tool-result" && result.part.output === NO_RESULT;
        if (!isFiller) yield buildMessageRecord(id, "tool", [result]);
        return;
      }
      if (isMessage && item.role !== "assistant") {
        yield* this.end();
        yield buildMessageRecord(id, toRole(item.role), decodeMessageItem(item), buildRoleMeta(item.role));
        return;
      }
      if (isMessage && lastType === "message") yield* this.end();
      if (turn.length === 0) turnId = id;
      for (const one of isMessage ? decodeMessageItem(item) : [decodeResponsesItem(item)]) turn.push(one);
      lastType = type;
    },
    get isSettled() {
      return turn.length === 0;
    },
    *end() {
      const parts = turn;
      turn = [];
      lastType = undefined;
      if (parts.length > 0) yield buildMessageRecord(turnId, "assistant", parts);
    },
  };
}

function toRole(role: unknown): Role {
  return role === "system" || role === "developer" ? "system" : "user";
}

function buildRoleMeta(role: unknown): { readonly [key: string]: Json } {
  return role === "developer" ? { role } : {};
}

function buildMessageRecord(
  id: string,
  role: Role,
  items: readonly ItemPart[],
  own: { readonly [key: string]: Json } = {},
): WireRecord {
  return { id, body: { kind: "message", message: buildItemsMessage(role, items, own) } };
}
