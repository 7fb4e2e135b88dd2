import type { Json } from "../index.ts";
import {
  arrayOf,
  definedFields,
  fieldsBesides,
  numberOf,
  objectOf,
  textOf,
  timeOf,
} from "./content/fields.ts";
import { awaitsMedia, labelledMedia, withMedia } from "./content/openai-chat-media.ts";
import { messageOfChat } from "./content/openai-chat-message.ts";
import type { Format } from "./format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { Dialect, MessageDecoder, Piece } from "./wire/dialect.ts";
import { openaiUsage } from "./wire/usage.ts";
import { wireFormat } from "./wire/wire-format.ts";

const NAME = "openai-chat";

const dialect: Dialect = {
  name: NAME,
  title: "OpenAI Chat Completions",
  messageFields: ["messages"],
  leadFields: [],
  responseFields: ["id", "object", "created", "model", "choices", "usage", "role", "content", "tool_calls"],
  makeDecoder,
  decodeLead: () => [],
  decodeResponse,
  isMessage: ({ role, content, tool_calls: calls, function_call: call }) =>
    typeof role === "string" &&
    (typeof content === "string" ||
      content === null ||
      Array.isArray(content) ||
      Array.isArray(calls) ||
      objectOf(call) !== undefined),
};

/** Conversations in the format of OpenAI's Chat Completions API and its many compatible servers. */
export const openaiChat: Format = wireFormat(dialect);

function* decodeResponse(fields: JsonObject, place: string, decoder: MessageDecoder): Generator<Piece> {
  const [first, ...others] = arrayOf(fields.choices);
  const answer = objectOf(objectOf(first)?.message) ?? (dialect.isMessage(fields) ? fields : undefined);
  const id = textOf(fields.id) ?? place;
  const model = textOf(fields.model);
  const created = numberOf(fields.created);
  const at = created === undefined ? undefined : timeOf(created * 1000);
  if (answer) {
    const choice = fieldsBesides(objectOf(first) ?? {}, ["index", "message"]);
    yield* decoder.decode({ ...answer, ...definedFields({ id, model, timestamp: at, choice }) }, place);
  }
  yield* decoder.end();
  for (const [index, other] of others.entries())
    yield { id: `${id}:choice-${index + 1}`, body: { kind: "raw", value: other as Json } };
  const usage = openaiUsage(fields.usage, { request: textOf(fields.id), model });
  if (usage) yield { id: `${id}:usage`, ...(at !== undefined && { at }), body: usage };
}

function makeDecoder(): MessageDecoder {
  /** Messages whose media follow in a later message, and results in between. */
  let held: Piece[] = [];
  /** Call id for the next message with the legacy role "function". */
  let functionCall = "";
  return {
    *decode(message, place) {
      const id = textOf(message.id) ?? place;
      if (objectOf(message.function_call)) functionCall = `call-${place}`;
      const decoded = messageOfChat(message, functionCall);
      if (!decoded) return;
      const { parts = [] } = decoded;
      const media = held.length > 0 && decoded.role === "user" ? labelledMedia(parts) : undefined;
      if (media) {
        const filled = held.map((piece) => fillMedia(piece, media));
        held = [];
        return yield* filled;
      }
      const at = timeOf(message.timestamp);
      const piece: Piece = {
        id,
        ...(at !== undefined && { at }),
        body: { kind: "message", message: decoded },
      };
      if (held.length === 0 || decoded.role !== "tool") yield* this.end();
      if (held.length > 0 || (decoded.role !== "user" && parts.some(awaitsMedia))) {
        held.push(piece);
        return;
      }
      yield piece;
      const usage = openaiUsage(message.usage, { request: textOf(message.id), model: decoded.model });
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

function fillMedia(piece: Piece, media: Parameters<typeof withMedia>[1]): Piece {
  if (piece.body.kind !== "message") return piece;
  const { message } = piece.body;
  const parts = message.parts?.map((part) => withMedia(part, media)) ?? [];
  return { ...piece, body: { kind: "message", message: { ...message, parts } } };
}
