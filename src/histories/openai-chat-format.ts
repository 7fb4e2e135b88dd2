import type { Json } from "../kernel/index.ts";
import { dropUndefined, omitFields, toArray, toNumber, toObject, toText, toTime } from "../wire/fields.ts";
import { collectLabeledMedia, hasMediaMark, withMedia } from "../wire/openai-chat/openai-chat-media.ts";
import { decodeChatMessage } from "../wire/openai-chat/openai-chat-message.ts";
import { openaiChatWire } from "../wire/openai-chat/openai-chat-wire.ts";
import type { Format } from "./port/format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { MessageDecoder, WireDialect, WireRecord } from "./wire/wire-dialect.ts";
import { createWireFormat } from "./wire/wire-format.ts";
import { decodeOpenaiUsage } from "./wire/wire-usage.ts";

const dialect: WireDialect = {
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
export const openaiChatFormat: Format = createWireFormat(dialect);

function* decodeResponse(fields: JsonObject, place: string, decoder: MessageDecoder): Generator<WireRecord> {
  const [first, ...others] = toArray(fields.choices);
  const answer = toObject(toObject(first)?.message) ?? (dialect.isMessage(fields) ? fields : undefined);
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
  if (usage) yield { id: `${id}:usage`, ...(at !== undefined && { at }), body: usage };
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
      const piece: WireRecord = {
        id,
        ...(at !== undefined && { at }),
        body: { kind: "message", message: decoded },
      };
      if (held.length === 0 || decoded.role !== "tool") yield* this.end();
      if (held.length > 0 || (decoded.role !== "user" && parts.some(hasMediaMark))) {
        held.push(piece);
        return;
      }
      yield piece;
      const usage = decodeOpenaiUsage(message.usage, { request: toText(message.id), model: decoded.model });
      if (usage) yield { id: `${id}:usage`, ...(at !== undefined && { at }), body: usage };
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
