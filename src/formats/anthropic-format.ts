import type { PartInput, Role } from "../index.ts";
import { decodeAnthropicBlocks } from "../wire/anthropic/anthropic-block-decode.ts";
import { NO_RESULT } from "../wire/result-marks.ts";
import { omitFields, toObject, toText, toTime } from "./content/fields.ts";
import type { Format } from "./format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { MessageDecoder, WireDialect, WireRecord } from "./wire/wire-dialect.ts";
import { createWireFormat } from "./wire/wire-format.ts";
import { decodeAnthropicUsage } from "./wire/wire-usage.ts";

const NAME = "anthropic";

/** Message fields that are decoded; other fields go into `meta`. */
const KNOWN_FIELDS = ["type", "role", "content", "id", "model", "usage", "timestamp"];

const dialect: WireDialect = {
  name: NAME,
  title: "Anthropic Messages",
  messageFields: ["messages"],
  leadFields: ["system"],
  responseFields: ["id", "type", "role", "content", "model", "stop_reason", "stop_sequence", "usage"],
  makeDecoder: () => decoder,
  *decodeLead(value, place) {
    yield* decodeMessage({ role: "system", content: value }, place);
  },
  *decodeResponse(fields, place) {
    if (typeof fields.role === "string") yield* decodeMessage(fields, place);
  },
  isMessage: ({ role, content }) =>
    typeof role === "string" && (typeof content === "string" || Array.isArray(content)),
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
  const { parts, extras } = decodeAnthropicBlocks(content, NAME);
  const meta = { ...omitFields(message, KNOWN_FIELDS), ...(extras && { extras }) };
  yield {
    id,
    ...(at !== undefined && { at }),
    body: {
      kind: "message",
      message: {
        role: toRole(message.role, parts),
        parts,
        ...(model !== undefined && { model }),
        ...(Object.keys(meta).length > 0 && { meta: { [NAME]: meta } }),
      },
    },
  };
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

function toRole(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "assistant") return "assistant";
  if (role === "system" || role === "developer") return "system";
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
