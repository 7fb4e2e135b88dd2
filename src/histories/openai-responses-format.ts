import type { Json, Role } from "../kernel/index.ts";
import { toNumber, toText, toTime } from "../wire/fields.ts";
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
import { decodeOpenaiUsage } from "./wire/wire-usage.ts";

const dialect: WireDialect = {
  name: "openai-responses",
  title: openaiResponsesWire.title,
  messageFields: [openaiResponsesWire.messagesField, "output"],
  leadFields: openaiResponsesWire.leadFields,
  responseFields: ["id", "object", "created_at", "model", "usage"],
  makeDecoder,
  *decodeLead(value, place) {
    const [lead] = openaiResponsesWire.decodeLead({ instructions: value });
    if (lead) yield { id: place, body: { kind: "message", message: lead } };
    else if (value !== null)
      yield { id: place, body: { kind: "raw", value: { instructions: value as Json } } };
  },
  decodeResponse,
  isMessage: openaiResponsesWire.isMessage,
};

/** Conversations in the format of OpenAI's Responses API. */
export const openaiResponsesFormat: Format = createWireFormat(dialect);

function* decodeResponse(fields: JsonObject, place: string, decoder: MessageDecoder): Generator<WireRecord> {
  const created = toNumber(fields.created_at);
  const at = created === undefined ? undefined : toTime(created * 1000);
  const model = toText(fields.model);
  const usage = decodeOpenaiUsage(fields.usage, { request: toText(fields.id), model });
  if (!usage) return;
  yield* decoder.end();
  yield { id: `${toText(fields.id) ?? place}:usage`, ...(at !== undefined && { at }), body: usage };
}

/**
 * Merges the items of one model turn into one message; a turn ends at another role or between two adjacent messages.
 * The wire joins those too, because a request does not show where a reply ended; a file with responses does.
 */
function makeDecoder(): MessageDecoder {
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
