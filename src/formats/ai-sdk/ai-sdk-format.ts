import type { Json, Role } from "../../index.ts";
import { collectContent, decodeModelContent } from "../../wire/ai-sdk/ai-sdk-part-decode.ts";
import type { Content } from "../../wire/block-content.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import type { Format } from "../port/format.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { WireDialect, WireRecord } from "../wire/wire-dialect.ts";
import { createWireFormat } from "../wire/wire-format.ts";
import { decodeAiSdkUsage } from "../wire/wire-usage.ts";
import { splitUiSteps } from "./ai-sdk-ui-steps.ts";

const NAME = "ai-sdk";

const dialect: WireDialect = {
  name: NAME,
  title: "AI SDK",
  messageFields: ["messages"],
  leadFields: ["system", "instructions"],
  responseFields: [],
  makeDecoder: () => ({ decode: decodeMessage, isSettled: true, end: () => [] }),
  *decodeLead(value, place) {
    if (typeof value === "string") yield* decodeMessage({ role: "system", content: value }, place);
    else if (toObject(value)) yield* decodeMessage(value as JsonObject, place);
    else if (value !== null) yield { id: place, body: { kind: "raw", value: { [place]: value as Json } } };
  },
  decodeResponse: () => [],
  isMessage: ({ role, content, parts }) =>
    typeof role === "string" &&
    (typeof content === "string" || Array.isArray(content) || Array.isArray(parts)),
};

/** Conversations of Vercel's AI SDK: ModelMessages or UIMessages. */
export const aiSdkFormat: Format = createWireFormat(dialect);

const KNOWN_FIELDS = ["role", "content", "parts", "id", "createdAt"];

function* decodeMessage(message: JsonObject, place: string): Generator<WireRecord> {
  const own = toText(message.id);
  const id = own ?? place;
  const meta = { ...omitFields(message, KNOWN_FIELDS), ...(own !== undefined && { id: own }) };
  const at = toTime(message.createdAt ?? toObject(message.metadata)?.createdAt);
  const time = at === undefined ? {} : { at };
  if (Array.isArray(message.parts)) yield* decodeUiMessage(message, id, meta, time);
  else {
    const content = decodeModelContent(message.content);
    // A message whose only content was placeholder results for missing ones is dropped.
    if (content.parts.length > 0 || toArray(message.content).length === 0)
      yield buildMessageRecord(id, toRole(message.role), content, meta, time);
  }
  const usage = decodeAiSdkUsage(toObject(message.metadata)?.usage, { request: own });
  if (usage) yield { id: `${id}:usage`, ...time, body: usage };
}

/** Turns each step of a UIMessage into a message, and the results of its calls into another. */
function* decodeUiMessage(message: JsonObject, id: string, meta: Meta, time: Time): Generator<WireRecord> {
  for (const [index, { said, results }] of splitUiSteps(message.parts).entries()) {
    const place = index === 0 ? id : `${id}:step-${index}`;
    yield buildMessageRecord(
      place,
      toRole(message.role),
      collectContent(said),
      index === 0 ? meta : {},
      time,
    );
    if (results.length > 0)
      yield buildMessageRecord(`${place}:results`, "tool", collectContent(results), {}, time);
  }
}

type Meta = { readonly [key: string]: Json };
type Time = { readonly at?: number };

function buildMessageRecord(
  id: string,
  role: Role,
  { parts, extras }: Content,
  fields: Meta,
  time: Time,
): WireRecord {
  const meta = { ...fields, ...(extras && { extras }) };
  const hasMeta = Object.keys(meta).length > 0;
  return {
    id,
    ...time,
    body: { kind: "message", message: { role, parts, ...(hasMeta && { meta: { [NAME]: meta } }) } },
  };
}

function toRole(role: unknown): Role {
  return role === "system" || role === "assistant" || role === "tool" ? role : "user";
}
