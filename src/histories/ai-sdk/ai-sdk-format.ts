import type { Json, Role, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import {
  type AiSdkPart,
  buildRawSdkPart,
  collectContent,
  decodeModelContent,
  decodeReasoningPart,
  decodeSdkToolOutput,
} from "../../wire/ai-sdk/ai-sdk-part-decode.ts";
import type { Content } from "../../wire/block-content.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import type { Format } from "../port/format.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { WireDialect, WireRecord } from "../wire/wire-dialect.ts";
import { createWireFormat } from "../wire/wire-format.ts";
import { decodeAiSdkUsage } from "../wire/wire-usage.ts";

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

/** States that follow from a call and its result. */
const PLAIN_STATES: readonly unknown[] = [
  "input-available",
  "output-available",
  "output-error",
  "call",
  "result",
];

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

/** One step of a UIMessage: text and calls, and the results of the calls. */
interface UiStep {
  readonly said: readonly AiSdkPart[];
  readonly results: readonly AiSdkPart[];
}

/** Splits the parts of a UIMessage into steps; returns at least one. */
function splitUiSteps(parts: unknown): readonly UiStep[] {
  const steps: { said: AiSdkPart[]; results: AiSdkPart[] }[] = [];
  const begin = () => {
    const step: { said: AiSdkPart[]; results: AiSdkPart[] } = { said: [], results: [] };
    steps.push(step);
    return step;
  };
  for (const value of toArray(parts)) {
    const part = toObject(value);
    if (part?.type === "step-start") {
      begin();
      continue;
    }
    const step = steps.at(-1) ?? begin();
    const tool = part && decodeToolPart(part);
    if (tool) {
      step.said.push(tool.call);
      if (tool.result) step.results.push(tool.result);
    } else step.said.push((part && decodeContentPart(part)) ?? buildRawSdkPart(value));
  }
  if (steps.length === 0) begin();
  return steps;
}

function decodeContentPart(part: JsonObject): AiSdkPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return {
        part: { type: "text", text: part.text },
        extra: omitFields(part, ["type", "text", ...getDoneFields(part)]),
      };
    case "reasoning": {
      const { state: _, ...rest } = part;
      return decodeReasoningPart(getDoneFields(part).length > 0 ? rest : part, "providerMetadata");
    }
    case "file": {
      const data = parseDataUrl(part.url, toText(part.filename));
      return data && { part: data, extra: omitFields(part, ["type", "url", "mediaType", "filename"]) };
    }
    default:
      return undefined;
  }
}

/** Names the state field of a finished part, which need not be kept. */
function getDoneFields(part: JsonObject): readonly string[] {
  return part.state === "done" ? ["state"] : [];
}

function decodeToolPart(
  part: JsonObject,
): { readonly call: AiSdkPart; readonly result?: AiSdkPart } | undefined {
  const tool = part.type === "tool-invocation" ? toObject(part.toolInvocation) : part;
  const callId = toText(tool?.toolCallId);
  if (!tool || callId === undefined || typeof part.type !== "string") return undefined;
  const isNamed = part.type.startsWith("tool-") && part.type !== "tool-invocation";
  const name = isNamed ? part.type.slice("tool-".length) : toText(tool.toolName);
  if (name === undefined || name === "") return undefined;
  const known = [
    "type",
    "toolCallId",
    "toolName",
    "input",
    "args",
    "rawInput",
    "output",
    "result",
    "errorText",
  ];
  const extra = {
    ...omitFields(tool, [...known, ...(PLAIN_STATES.includes(tool.state) ? ["state"] : [])]),
    ...(part.type === "dynamic-tool" && { dynamic: true }),
  };
  const input = (tool.input ?? tool.rawInput ?? tool.args ?? {}) as Json;
  const result = decodeResult(tool, callId, name);
  return {
    call: {
      part: { type: "tool-call", callId, name, input },
      extra: Object.keys(extra).length > 0 ? extra : undefined,
    },
    ...(result && { result }),
  };
}

function decodeResult(tool: JsonObject, callId: string, name: string): AiSdkPart | undefined {
  const answer = decodeAnswer(tool);
  if (!answer) return undefined;
  const { output, isError, extra } = answer;
  const part: ToolResultInput = { type: "tool-result", callId, name, ...dropUndefined({ isError }), output };
  return { part, extra };
}

interface ToolAnswer {
  readonly output: ToolResultInput["output"];
  readonly isError?: true;
  readonly extra?: { readonly [field: string]: Json };
}

function decodeAnswer(tool: JsonObject): ToolAnswer | undefined {
  if (tool.state === "output-error") return { output: String(tool.errorText ?? ""), isError: true };
  if (tool.state === "output-denied")
    return { output: toText(toObject(tool.approval)?.reason) ?? "", isError: true };
  if (tool.state !== "output-available" && tool.state !== "result") return undefined;
  const output = tool.output ?? tool.result;
  if (typeof output === "string") return { output };
  const own = toObject(output);
  // Several pieces in the form that this library writes.
  const pieces = own?.type === "content" && Array.isArray(own.value) ? decodeSdkToolOutput(own) : undefined;
  if (pieces) return { output: pieces.output, ...(own?.isError === true && { isError: true }) };
  return { output: JSON.stringify(output ?? null), extra: { output: { type: "json" } } };
}
