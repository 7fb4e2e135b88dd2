import type { Json, PartInput, ToolResultInput } from "../../index.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "../content/fields.ts";
import { dataPart } from "../content/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Gemini's content as parts, with fields that parts cannot represent, by index. */
export interface Content {
  readonly parts: readonly PartInput[];
  readonly extras?: { readonly [index: string]: Json };
}

/** A part that tool results may hold. */
export type PlainPart = Exclude<ToolResultInput["output"], string>[number];

/** Converts content: a string, a part, or a list of both. Calls without an id get one derived from `id`. */
export function contentParts(content: unknown, id: string): Content {
  const parts: PartInput[] = [];
  const extras: [string, Json][] = [];
  for (const [index, value] of listOf(content).entries()) {
    const known = knownPart(value, `${id}:${index}`);
    parts.push(known?.part ?? rawPart(value));
    if (known?.extra) extras.push([String(index), known.extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

export function listOf(content: unknown): readonly unknown[] {
  if (content === undefined || content === null || content === "") return [];
  return Array.isArray(content) ? content : [content];
}

/** Joins the texts of content. */
export function textOfContent(content: unknown): string {
  const texts = listOf(content).map((value) =>
    typeof value === "string" ? value : textOf(objectOf(value)?.text),
  );
  return texts.filter((text) => text !== undefined).join("");
}

interface KnownPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json };
}

function knownPart(value: unknown, id: string): KnownPart | undefined {
  if (typeof value === "string") return { part: { type: "text", text: value } };
  const fields = objectOf(value);
  if (!fields) return undefined;
  if (typeof fields.text === "string") return wordsPart(fields, fields.text);
  const { inlineData, functionCall, functionResponse } = fields;
  const media = mediaPart(inlineData);
  if (media) return withExtra(media, fields, ["inlineData"]);
  const call = objectOf(functionCall);
  if (call) return withExtra(callPart(call, id), fields, ["functionCall"]);
  const response = objectOf(functionResponse);
  const callId = textOf(response?.id) ?? textOf(response?.name);
  if (!response || callId === undefined) return undefined;
  return withExtra(resultPart([value], callId, textOf(response.name)), fields, ["functionResponse"]);
}

function wordsPart(fields: JsonObject, text: string): KnownPart {
  if (fields.thought !== true) return withExtra({ type: "text", text }, fields, ["text"]);
  const opaque = fields.thoughtSignature as Json | undefined;
  const part: PartInput = {
    type: "reasoning",
    text,
    ...definedFields({ opaque: opaque && { thoughtSignature: opaque } }),
  };
  return withExtra(part, fields, ["text", "thought", "thoughtSignature"]);
}

function callPart(call: JsonObject, id: string): PartInput {
  const name = textOf(call.name) ?? "";
  return { type: "tool-call", callId: textOf(call.id) ?? id, name, input: (call.args ?? {}) as Json };
}

function mediaPart(value: unknown): PlainPart | undefined {
  const data = objectOf(value);
  if (!data || fieldsBesides(data, ["mimeType", "data", "displayName"])) return undefined;
  return dataPart(data.data, data.mimeType, textOf(data.displayName));
}

/** Converts the result of a call: the function's responses and their attachments. */
export function resultPart(
  result: unknown,
  callId: string,
  name?: string,
  isError?: boolean,
): ToolResultInput {
  const responses = listOf(result).map((value) => responseOf(value));
  const failed = isError || responses.some((response) => response.isError) ? true : undefined;
  const output = responses.flatMap(({ parts }) => parts);
  const [only] = output;
  return {
    type: "tool-result",
    callId,
    ...definedFields({ name, isError: failed }),
    output: output.length === 0 ? "" : output.length === 1 && only?.type === "text" ? only.text : output,
  };
}

interface Response {
  readonly parts: readonly PlainPart[];
  readonly isError?: boolean;
}

function responseOf(value: unknown): Response {
  if (typeof value === "string") return { parts: [{ type: "text", text: value }] };
  const fields = objectOf(value) ?? {};
  const response = objectOf(fields.functionResponse);
  if (!response) return { parts: [plainPart(value)] };
  const { text, isError } = words(response.response);
  const parts: PlainPart[] = text === "" ? [] : [{ type: "text", text }];
  for (const inner of arrayOf(response.parts)) parts.push(plainPart(inner));
  const extra = fieldsBesides(response, ["id", "name", "response", "parts"]);
  return { parts: extra ? [...parts, rawPart(extra)] : parts, ...definedFields({ isError }) };
}

/** Extracts the text of a response: its output or error, else the whole object as JSON. */
function words(response: unknown): { readonly text: string; readonly isError?: boolean } {
  const fields = objectOf(response);
  if (!fields) return { text: response === undefined ? "" : JSON.stringify(response) };
  const [only, ...others] = Object.keys(fields);
  const value = only === undefined ? undefined : fields[only];
  if (others.length > 0 || typeof value !== "string") return { text: JSON.stringify(fields) };
  if (only === "output") return { text: value };
  return only === "error" ? { text: value, isError: true } : { text: JSON.stringify(fields) };
}

function plainPart(value: unknown): PlainPart {
  const part = knownPart(value, "");
  const isPlain = part && !part.extra && (part.part.type === "text" || part.part.type === "data");
  return isPlain ? (part.part as PlainPart) : rawPart(value);
}

function rawPart(value: unknown): PlainPart {
  return { type: "raw", format: "gemini-cli", value: value as Json };
}

function withExtra(part: PartInput, fields: JsonObject, held: readonly string[]): KnownPart {
  const extra = fieldsBesides(fields, held);
  return extra ? { part, extra } : { part };
}
