import type { Json, MessageInput, PartInput, Usage } from "../../index.ts";
import { arrayOf, definedFields, numberOf, objectOf, textOf, timeOf } from "../content/fields.ts";
import { fingerprint } from "../content/fingerprint.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import { toldFields } from "../content/told-fields.ts";
import type { RecordBody, RecordItem } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type Content, contentParts, listOf, resultPart, textOfContent } from "./parts.ts";

const NAME = "gemini-cli";
const NOTICES: readonly string[] = ["info", "error", "warning"];

/**
 * Builds the records of one message: itself, its usage and its tool results. Results of calls in `answered` are left
 * out, because another message has them.
 */
export function recordsOf(
  message: JsonObject,
  id: string,
  answered: ReadonlySet<string> = new Set(),
): readonly RecordItem[] {
  const bodies: (readonly [suffix: string, body: RecordBody | undefined])[] = [];
  if (message.type === "user") for (const one of saidByUser(message, id)) bodies.push(one);
  else if (message.type === "gemini") for (const one of saidByModel(message, id, answered)) bodies.push(one);
  else if (NOTICES.includes(textOf(message.type) ?? "")) for (const one of noticed(message)) bodies.push(one);
  else bodies.push(["", { kind: "raw", value: message as Json }]);
  const at = timeOf(message.timestamp);
  return bodies.flatMap(([suffix, body]) =>
    body
      ? [
          {
            type: "record",
            id: id + suffix,
            version: versionOf(body),
            ...definedFields({ at }),
            body,
          } as const,
        ]
      : [],
  );
}

/** Fingerprints a body: messages are rewritten whenever something is added. */
function versionOf(body: RecordBody): string {
  return fingerprint(JSON.stringify(body));
}

type Bodies = (readonly [suffix: string, body: RecordBody | undefined])[];

const BASE_FIELDS = ["id", "timestamp", "type", "content"];

function saidByUser(message: JsonObject, id: string): Bodies {
  const content = contentParts(message.content, id);
  const isAnswer = content.parts.length > 0 && content.parts.every(({ type }) => type === "tool-result");
  const isShownAsIs = JSON.stringify(message.displayContent) === JSON.stringify(message.content);
  const left = toldFields(message, [...BASE_FIELDS, ...(isShownAsIs ? ["displayContent"] : [])]);
  return spoken(
    { role: isAnswer ? "tool" : "user", parts: orEmpty(content.parts) },
    { ...left, ...extrasOf(content) },
  );
}

function noticed(message: JsonObject): Bodies {
  const rest = toldFields(message, BASE_FIELDS);
  const level = message.type === "info" ? {} : { type: message.type as Json };
  const value = { ...level, ...rest };
  const extra: RecordBody | undefined = Object.keys(value).length > 0 ? { kind: "raw", value } : undefined;
  return [
    ["", { kind: "notice", text: textOfContent(message.content) }],
    [":extra", extra],
  ];
}

function saidByModel(message: JsonObject, id: string, answered: ReadonlySet<string>): Bodies {
  const calls = arrayOf(message.toolCalls).map((value, index) => toolCall(value, `${id}:${index}`));
  const content = contentParts(message.content, id);
  const callIds = new Set(calls.map(({ callId }) => callId));
  const thoughts = arrayOf(message.thoughts).map((value) => objectOf(value) ?? {});
  const parts: PartInput[] = [
    ...thoughts.map((thought) => ({ type: "reasoning", text: thoughtText(thought) }) as const),
    ...content.parts.filter((part) => part.type !== "tool-call" || !callIds.has(part.callId)),
    ...calls.map(({ callId, name, input }) => ({ type: "tool-call", callId, name, input }) as const),
  ];
  const told = calls.flatMap(({ callId, left }) => (left ? [[callId, left] as const] : []));
  const thought = thoughts.map((fields) => toldFields(fields, ["subject", "description"]) ?? null);
  const model = textOf(message.model);
  const left = {
    ...toldFields(message, [...BASE_FIELDS, "toolCalls", "thoughts", "tokens", "model"]),
    ...extrasOf(content),
    ...(thought.some((fields) => fields !== null) && { thoughts: thought as Json }),
    ...(told.length > 0 && { calls: Object.fromEntries(told) as Json }),
  };
  const results = calls.flatMap(({ result, callId }) => (result && !answered.has(callId) ? [result] : []));
  const [said, ...extra] = spoken(
    { role: "assistant", parts: orEmpty(parts), ...definedFields({ model }) },
    left,
  );
  return [
    ...(said ? [said] : []),
    [":usage", usageBody(message.tokens, model)],
    [
      ":results",
      results.length > 0 ? { kind: "message", message: { role: "tool", parts: results } } : undefined,
    ],
    ...extra,
  ];
}

function thoughtText({ subject, description }: JsonObject): string {
  return [subject, description].filter((text) => textOf(text) !== undefined).join("\n\n");
}

/** Splits a tool call into call, result and leftovers. */
function toolCall(value: unknown, fallbackId: string) {
  const call = objectOf(value) ?? {};
  const callId = textOf(call.id) ?? fallbackId;
  const name = textOf(call.name) ?? "";
  const isError = call.status === "error" ? true : undefined;
  const hasResult = listOf(call.result).length > 0;
  const result = hasResult ? resultPart(call.result, callId, name, isError) : undefined;
  const isShownAsIs = result !== undefined && call.resultDisplay === result.output;
  const held = ["id", "name", "args", "result", ...(isShownAsIs ? ["resultDisplay"] : [])];
  return { callId, name, input: (call.args ?? {}) as Json, result, left: toldFields(call, held) };
}

/** Converts usage: Gemini counts cache reads as input, and thoughts separately from the output. */
function usageBody(value: unknown, model: string | undefined): RecordBody | undefined {
  const tokens = objectOf(value);
  if (!tokens) return undefined;
  const [input = 0, output = 0] = [numberOf(tokens.input), numberOf(tokens.output)];
  const [cached = 0, thoughts = 0] = [numberOf(tokens.cached), numberOf(tokens.thoughts)];
  const [tool = 0, total] = [numberOf(tokens.tool), numberOf(tokens.total)];
  const usage: Usage = {
    inputTokens: Math.max(0, input - cached) + tool,
    outputTokens: output + thoughts,
    cacheReadTokens: cached,
    reasoningTokens: thoughts,
  };
  const isSum = total === undefined || total === input + output + thoughts + tool;
  const meta = { ...(tool > 0 && { tool }), ...(!isSum && { total }) };
  const hasMeta = Object.keys(meta).length > 0;
  return { kind: "usage", usage, ...definedFields({ model }), ...(hasMeta && { meta: { [NAME]: meta } }) };
}

function orEmpty(parts: readonly PartInput[]): readonly PartInput[] {
  return parts.length > 0 ? parts : [{ type: "text", text: "" }];
}

function extrasOf({ extras }: Content): { readonly extras?: Json } {
  return extras ? { extras } : {};
}

function spoken(message: MessageInput, left: { readonly [field: string]: Json }): Bodies {
  const { small, large } = splitLeftovers(Object.keys(left).length > 0 ? left : undefined);
  return [
    ["", { kind: "message", message: { ...message, ...(small && { meta: { [NAME]: small } }) } }],
    [":extra", large && { kind: "raw", value: large }],
  ];
}
