import type { Json, Role } from "../index.ts";
import { contentOf, contentOfModelMessage } from "./content/ai-sdk-parts.ts";
import { stepsOfUiParts } from "./content/ai-sdk-ui-parts.ts";
import type { Content } from "./content/blocks.ts";
import { arrayOf, fieldsBesides, objectOf, textOf, timeOf } from "./content/fields.ts";
import type { Format } from "./format.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import type { Dialect, Piece } from "./wire/dialect.ts";
import { aiSdkUsage } from "./wire/usage.ts";
import { wireFormat } from "./wire/wire-format.ts";

const NAME = "ai-sdk";

const dialect: Dialect = {
  name: NAME,
  title: "AI SDK",
  messageFields: ["messages"],
  leadFields: ["system", "instructions"],
  responseFields: [],
  makeDecoder: () => ({ decode: decodeMessage, isSettled: true, end: () => [] }),
  *decodeLead(value, place) {
    if (typeof value === "string") yield* decodeMessage({ role: "system", content: value }, place);
    else if (objectOf(value)) yield* decodeMessage(value as JsonObject, place);
    else if (value !== null) yield { id: place, body: { kind: "raw", value: { [place]: value as Json } } };
  },
  decodeResponse: () => [],
  isMessage: ({ role, content, parts }) =>
    typeof role === "string" &&
    (typeof content === "string" || Array.isArray(content) || Array.isArray(parts)),
};

/** Conversations of Vercel's AI SDK: ModelMessages or UIMessages. */
export const aiSdk: Format = wireFormat(dialect);

const KNOWN = ["role", "content", "parts", "id", "createdAt"];

function* decodeMessage(message: JsonObject, place: string): Generator<Piece> {
  const own = textOf(message.id);
  const id = own ?? place;
  const meta = { ...fieldsBesides(message, KNOWN), ...(own !== undefined && { id: own }) };
  const at = timeOf(message.createdAt ?? objectOf(message.metadata)?.createdAt);
  const time = at === undefined ? {} : { at };
  if (Array.isArray(message.parts)) yield* decodeUiMessage(message, id, meta, time);
  else {
    const content = contentOfModelMessage(message.content);
    // A message whose only content was placeholder results for missing ones is dropped.
    if (content.parts.length > 0 || arrayOf(message.content).length === 0)
      yield messagePiece(id, roleOf(message.role), content, meta, time);
  }
  const usage = aiSdkUsage(objectOf(message.metadata)?.usage, { request: own });
  if (usage) yield { id: `${id}:usage`, ...time, body: usage };
}

/** Turns each step of a UIMessage into a message, and the results of its calls into another. */
function* decodeUiMessage(message: JsonObject, id: string, meta: Meta, time: Time): Generator<Piece> {
  for (const [index, { said, results }] of stepsOfUiParts(message.parts).entries()) {
    const place = index === 0 ? id : `${id}:step-${index}`;
    yield messagePiece(place, roleOf(message.role), contentOf(said), index === 0 ? meta : {}, time);
    if (results.length > 0) yield messagePiece(`${place}:results`, "tool", contentOf(results), {}, time);
  }
}

type Meta = { readonly [key: string]: Json };
type Time = { readonly at?: number };

function messagePiece(id: string, role: Role, { parts, extras }: Content, fields: Meta, time: Time): Piece {
  const meta = { ...fields, ...(extras && { extras }) };
  const hasMeta = Object.keys(meta).length > 0;
  return {
    id,
    ...time,
    body: { kind: "message", message: { role, parts, ...(hasMeta && { meta: { [NAME]: meta } }) } },
  };
}

function roleOf(role: unknown): Role {
  return role === "system" || role === "assistant" || role === "tool" ? role : "user";
}
