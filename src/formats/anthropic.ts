import type { PartInput, Role } from "../index.ts";
import { contentOfBlocks } from "./content/anthropic-blocks.ts";
import { fieldsBesides, objectOf, textOf, timeOf } from "./content/fields.ts";
import { NO_RESULT } from "./content/marks.ts";
import type { Format } from "./format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { Dialect, MessageDecoder, Piece } from "./wire/dialect.ts";
import { anthropicUsage } from "./wire/usage.ts";
import { wireFormat } from "./wire/wire-format.ts";

const NAME = "anthropic";

/** Message fields that are decoded; other fields go into `meta`. */
const KNOWN = ["type", "role", "content", "id", "model", "usage", "timestamp"];

const dialect: Dialect = {
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
export const anthropic: Format = wireFormat(dialect);

const decoder: MessageDecoder = { decode: decodeMessage, isSettled: true, end: () => [] };

function* decodeMessage(message: JsonObject, place: string): Generator<Piece> {
  const id = textOf(message.id) ?? place;
  const model = textOf(message.model);
  const at = timeOf(message.timestamp);
  const content = withoutFillers(message.content);
  if (content === undefined) return;
  const { parts, extras } = contentOfBlocks(content, NAME);
  const meta = { ...fieldsBesides(message, KNOWN), ...(extras && { extras }) };
  yield {
    id,
    ...(at !== undefined && { at }),
    body: {
      kind: "message",
      message: {
        role: roleOf(message.role, parts),
        parts,
        ...(model !== undefined && { model }),
        ...(Object.keys(meta).length > 0 && { meta: { [NAME]: meta } }),
      },
    },
  };
  const usage = anthropicUsage(message.usage, { request: textOf(message.id), model });
  if (usage) yield { id: `${id}:usage`, ...(at !== undefined && { at }), body: usage };
}

/**
 * Removes placeholder results, which exist only because a request requires a result for every call; returns undefined
 * if nothing else remains.
 */
function withoutFillers(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const isFiller = (block: unknown) => {
    const { type, is_error, content } = objectOf(block) ?? {};
    return type === "tool_result" && is_error === true && content === NO_RESULT;
  };
  const kept = content.filter((block) => !isFiller(block));
  return kept.length === 0 && content.length > 0 ? undefined : kept;
}

function roleOf(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "assistant") return "assistant";
  if (role === "system" || role === "developer") return "system";
  return parts.length > 0 && parts.every(({ type }) => type === "tool-result") ? "tool" : "user";
}
