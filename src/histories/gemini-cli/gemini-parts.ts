import type { Json, PartInput, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Gemini's content as parts, with fields that parts cannot represent, by index. */
export interface GeminiContent {
  readonly parts: readonly PartInput[];
  readonly extras?: { readonly [index: string]: Json };
}

/** A part that tool results may hold. */
type GeminiPlainPart = Exclude<ToolResultInput["output"], string>[number];

/** Converts content: a string, a part, or a list of both. Calls without an id get one derived from `id`. */
export function decodeGeminiContent(content: unknown, id: string): GeminiContent {
  const parts: PartInput[] = [];
  const extras: [string, Json][] = [];
  for (const [index, value] of toList(content).entries()) {
    const known = decodePart(value, `${id}:${index}`);
    parts.push(known?.part ?? buildRawPart(value));
    if (known?.extra) extras.push([String(index), known.extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

export function toList(content: unknown): readonly unknown[] {
  if (content === undefined || content === null || content === "") return [];
  return Array.isArray(content) ? content : [content];
}

/** Joins the texts of content. */
export function joinContentTexts(content: unknown): string {
  const texts = toList(content).map((value) =>
    typeof value === "string" ? value : toText(toObject(value)?.text),
  );
  return texts.filter((text) => text !== undefined).join("");
}

interface DecodedPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json };
}

function decodePart(value: unknown, id: string): DecodedPart | undefined {
  if (typeof value === "string") return { part: { type: "text", text: value } };
  const fields = toObject(value);
  if (!fields) return undefined;
  if (typeof fields.text === "string") return decodeTextPart(fields, fields.text);
  const { inlineData, functionCall, functionResponse } = fields;
  const media = decodeMedia(inlineData);
  if (media) return withExtra(media, fields, ["inlineData"]);
  const call = toObject(functionCall);
  if (call) return withExtra(decodeCall(call, id), fields, ["functionCall"]);
  const response = toObject(functionResponse);
  const callId = toText(response?.id) ?? toText(response?.name);
  if (!response || callId === undefined) return undefined;
  return withExtra(decodeGeminiResult([value], callId, toText(response.name)), fields, ["functionResponse"]);
}

function decodeTextPart(fields: JsonObject, text: string): DecodedPart {
  if (fields.thought !== true) return withExtra({ type: "text", text }, fields, ["text"]);
  const opaque = fields.thoughtSignature as Json | undefined;
  const part: PartInput = {
    type: "reasoning",
    text,
    ...dropUndefined({ opaque: opaque && { thoughtSignature: opaque } }),
  };
  return withExtra(part, fields, ["text", "thought", "thoughtSignature"]);
}

function decodeCall(call: JsonObject, id: string): PartInput {
  const name = toText(call.name) ?? "";
  return { type: "tool-call", callId: toText(call.id) ?? id, name, input: (call.args ?? {}) as Json };
}

function decodeMedia(value: unknown): GeminiPlainPart | undefined {
  const data = toObject(value);
  if (!data || omitFields(data, ["mimeType", "data", "displayName"])) return undefined;
  return buildDataPart(data.data, data.mimeType, toText(data.displayName));
}

/** Converts the result of a call: the function's responses and their attachments. */
export function decodeGeminiResult(
  result: unknown,
  callId: string,
  name?: string,
  isError?: boolean,
): ToolResultInput {
  const responses = toList(result).map((value) => decodeResponse(value));
  const failed = isError || responses.some((response) => response.isError) ? true : undefined;
  const output = responses.flatMap(({ parts }) => parts);
  const [only] = output;
  return {
    type: "tool-result",
    callId,
    ...dropUndefined({ name, isError: failed }),
    output: output.length === 0 ? "" : output.length === 1 && only?.type === "text" ? only.text : output,
  };
}

interface FunctionResponse {
  readonly parts: readonly GeminiPlainPart[];
  readonly isError?: boolean;
}

function decodeResponse(value: unknown): FunctionResponse {
  if (typeof value === "string") return { parts: [{ type: "text", text: value }] };
  const fields = toObject(value) ?? {};
  const response = toObject(fields.functionResponse);
  if (!response) return { parts: [toPlainPart(value)] };
  const { text, isError } = extractResponseText(response.response);
  const parts: GeminiPlainPart[] = text === "" ? [] : [{ type: "text", text }];
  for (const inner of toArray(response.parts)) parts.push(toPlainPart(inner));
  const extra = omitFields(response, ["id", "name", "response", "parts"]);
  return { parts: extra ? [...parts, buildRawPart(extra)] : parts, ...dropUndefined({ isError }) };
}

/** Extracts the text of a response: its output or error, else the whole object as JSON. */
function extractResponseText(response: unknown): { readonly text: string; readonly isError?: boolean } {
  const fields = toObject(response);
  if (!fields) return { text: response === undefined ? "" : JSON.stringify(response) };
  const [only, ...others] = Object.keys(fields);
  const value = only === undefined ? undefined : fields[only];
  if (others.length > 0 || typeof value !== "string") return { text: JSON.stringify(fields) };
  if (only === "output") return { text: value };
  return only === "error" ? { text: value, isError: true } : { text: JSON.stringify(fields) };
}

function toPlainPart(value: unknown): GeminiPlainPart {
  const part = decodePart(value, "");
  const isPlain = part && !part.extra && (part.part.type === "text" || part.part.type === "data");
  return isPlain ? (part.part as GeminiPlainPart) : buildRawPart(value);
}

function buildRawPart(value: unknown): GeminiPlainPart {
  return { type: "raw", format: "gemini-cli", value: value as Json };
}

function withExtra(part: PartInput, fields: JsonObject, held: readonly string[]): DecodedPart {
  const extra = omitFields(fields, held);
  return extra ? { part, extra } : { part };
}
