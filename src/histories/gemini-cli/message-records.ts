import type { Json, MessageInput, PartInput, Usage } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import { nonEmptyFields } from "../content/non-empty-fields.ts";
import type { RecordBody, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import {
  decodeGeminiContent,
  decodeGeminiResult,
  type GeminiContent,
  joinContentTexts,
  toList,
} from "./gemini-parts.ts";

const NAME = "gemini-cli";
const NOTICES: readonly string[] = ["info", "error", "warning"];

/**
 * Builds the records of one message: itself, its usage and its tool results. Results of calls in `answered` are left
 * out, because another message has them.
 */
export function buildChatRecords(
  message: JsonObject,
  id: string,
  answered: ReadonlySet<string> = new Set(),
): readonly RecordItem[] {
  const bodies: (readonly [suffix: string, body: RecordBody | undefined])[] = [];
  if (message.type === "user") for (const one of decodeUserMessage(message, id)) bodies.push(one);
  else if (message.type === "gemini")
    for (const one of decodeModelMessage(message, id, answered)) bodies.push(one);
  else if (NOTICES.includes(toText(message.type) ?? ""))
    for (const one of decodeNotice(message)) bodies.push(one);
  else bodies.push(["", { kind: "raw", value: message as Json }]);
  const at = toTime(message.timestamp);
  return bodies.flatMap(([suffix, body]) =>
    body
      ? [
          {
            type: "record",
            id: id + suffix,
            version: hashBody(body),
            ...dropUndefined({ at }),
            body,
          } as const,
        ]
      : [],
  );
}

/** Fingerprints a body: messages are rewritten whenever something is added. */
function hashBody(body: RecordBody): string {
  return computeFingerprint(JSON.stringify(body));
}

type Bodies = (readonly [suffix: string, body: RecordBody | undefined])[];

const BASE_FIELDS = ["id", "timestamp", "type", "content"];

function decodeUserMessage(message: JsonObject, id: string): Bodies {
  const content = decodeGeminiContent(message.content, id);
  const isAnswer = content.parts.length > 0 && content.parts.every(({ type }) => type === "tool-result");
  const isShownAsIs = JSON.stringify(message.displayContent) === JSON.stringify(message.content);
  const left = nonEmptyFields(message, [...BASE_FIELDS, ...(isShownAsIs ? ["displayContent"] : [])]);
  return buildBodies(
    { role: isAnswer ? "tool" : "user", parts: ensureParts(content.parts) },
    { ...left, ...getExtras(content) },
  );
}

function decodeNotice(message: JsonObject): Bodies {
  const rest = nonEmptyFields(message, BASE_FIELDS);
  const level = message.type === "info" ? {} : { type: message.type as Json };
  const value = { ...level, ...rest };
  const extra: RecordBody | undefined = Object.keys(value).length > 0 ? { kind: "raw", value } : undefined;
  return [
    ["", { kind: "notice", text: joinContentTexts(message.content) }],
    [":extra", extra],
  ];
}

function decodeModelMessage(message: JsonObject, id: string, answered: ReadonlySet<string>): Bodies {
  const calls = toArray(message.toolCalls).map((value, index) => decodeToolCall(value, `${id}:${index}`));
  const content = decodeGeminiContent(message.content, id);
  const callIds = new Set(calls.map(({ callId }) => callId));
  const thoughts = toArray(message.thoughts).map((value) => toObject(value) ?? {});
  const parts: PartInput[] = [
    ...thoughts.map((thought) => ({ type: "reasoning", text: formatThought(thought) }) as const),
    ...content.parts.filter((part) => part.type !== "tool-call" || !callIds.has(part.callId)),
    ...calls.map(({ callId, name, input }) => ({ type: "tool-call", callId, name, input }) as const),
  ];
  const told = calls.flatMap(({ callId, left }) => (left ? [[callId, left] as const] : []));
  const thought = thoughts.map((fields) => nonEmptyFields(fields, ["subject", "description"]) ?? null);
  const model = toText(message.model);
  const left = {
    ...nonEmptyFields(message, [...BASE_FIELDS, "toolCalls", "thoughts", "tokens", "model"]),
    ...getExtras(content),
    ...(thought.some((fields) => fields !== null) && { thoughts: thought as Json }),
    ...(told.length > 0 && { calls: Object.fromEntries(told) as Json }),
  };
  const results = calls.flatMap(({ result, callId }) => (result && !answered.has(callId) ? [result] : []));
  const [said, ...extra] = buildBodies(
    { role: "assistant", parts: ensureParts(parts), ...dropUndefined({ model }) },
    left,
  );
  return [
    ...(said ? [said] : []),
    [":usage", decodeUsage(message.tokens, model)],
    [
      ":results",
      results.length > 0 ? { kind: "message", message: { role: "tool", parts: results } } : undefined,
    ],
    ...extra,
  ];
}

function formatThought({ subject, description }: JsonObject): string {
  return [subject, description].filter((text) => toText(text) !== undefined).join("\n\n");
}

/** Splits a tool call into call, result and leftovers. */
function decodeToolCall(value: unknown, fallbackId: string) {
  const call = toObject(value) ?? {};
  const callId = toText(call.id) ?? fallbackId;
  const name = toText(call.name) ?? "";
  const isError = call.status === "error" ? true : undefined;
  const hasResult = toList(call.result).length > 0;
  const result = hasResult ? decodeGeminiResult(call.result, callId, name, isError) : undefined;
  const isShownAsIs = result !== undefined && call.resultDisplay === result.output;
  const held = ["id", "name", "args", "result", ...(isShownAsIs ? ["resultDisplay"] : [])];
  return { callId, name, input: (call.args ?? {}) as Json, result, left: nonEmptyFields(call, held) };
}

/** Converts usage: Gemini counts cache reads as input, and thoughts separately from the output. */
function decodeUsage(value: unknown, model: string | undefined): RecordBody | undefined {
  const tokens = toObject(value);
  if (!tokens) return undefined;
  const [input = 0, output = 0] = [toNumber(tokens.input), toNumber(tokens.output)];
  const [cached = 0, thoughts = 0] = [toNumber(tokens.cached), toNumber(tokens.thoughts)];
  const [tool = 0, total] = [toNumber(tokens.tool), toNumber(tokens.total)];
  const usage: Usage = {
    inputTokens: Math.max(0, input - cached) + tool,
    outputTokens: output + thoughts,
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  };
  const isSum = total === undefined || total === input + output + thoughts + tool;
  const meta = dropUndefined({ tool: tool > 0 ? tool : undefined, total: !isSum ? total : undefined });
  const hasMeta = Object.keys(meta).length > 0;
  return { kind: "usage", usage, ...dropUndefined({ model }), ...(hasMeta && { meta: { [NAME]: meta } }) };
}

function ensureParts(parts: readonly PartInput[]): readonly PartInput[] {
  return parts.length > 0 ? parts : [{ type: "text", text: "" }];
}

function getExtras({ extras }: GeminiContent): { readonly extras?: Json } {
  return extras ? { extras } : {};
}

function buildBodies(message: MessageInput, left: { readonly [field: string]: Json }): Bodies {
  const { small, large } = splitLeftovers(Object.keys(left).length > 0 ? left : undefined);
  return [
    ["", { kind: "message", message: { ...message, ...(small && { meta: { [NAME]: small } }) } }],
    [":extra", large && { kind: "raw", value: large }],
  ];
}
