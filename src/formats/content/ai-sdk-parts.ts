import type { DataPart, Json, PartInput, ReasoningPart, ToolResultInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Content, Extras } from "./blocks.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "./fields.ts";
import { NO_RESULT } from "./marks.ts";
import { dataPart, dataPartOfUrl } from "./media.ts";

const NAME = "ai-sdk";

/** A part with foreign fields that it cannot represent. */
export interface SdkPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of a ModelMessage, a string or parts. Unknown parts become raw. */
export function contentOfModelMessage(content: unknown): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  return contentOf(
    arrayOf(content)
      .filter((value) => !isFiller(value))
      .map(sdkPart),
  );
}

/** Collects parts and their extras by index. */
export function contentOf(all: readonly SdkPart[]): Content {
  const extras = all.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const parts = all.map(({ part }) => part);
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) as Extras } : { parts };
}

/** Keeps a value as a raw part. */
export function rawSdkPart(value: unknown): SdkPart {
  return { part: { type: "raw", format: NAME, value: value as Json } };
}

function sdkPart(value: unknown): SdkPart {
  const part = objectOf(value);
  return (part && knownPart(part)) ?? rawSdkPart(value);
}

function knownPart(part: JsonObject): SdkPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return { part: { type: "text", text: part.text }, extra: fieldsBesides(part, ["type", "text"]) };
    case "reasoning":
      return reasoningPart(part, "providerOptions");
    case "file":
    case "image": {
      const data = fileData(part);
      const isImage = part.type === "image";
      const rest = {
        ...(isImage && { type: "image" }),
        ...fieldsBesides(part, ["type", "data", "image", "mediaType", "mimeType", "filename"]),
      };
      return data && { part: data, extra: Object.keys(rest).length > 0 ? rest : undefined };
    }
    case "tool-call": {
      const [callId, name] = [textOf(part.toolCallId), textOf(part.toolName)];
      if (callId === undefined || name === undefined) return undefined;
      const input = (part.input ?? part.args ?? {}) as Json;
      const extra = fieldsBesides(part, ["type", "toolCallId", "toolName", "input", "args"]);
      return { part: { type: "tool-call", callId, name, input }, extra };
    }
    case "tool-result":
      return resultPart(part);
    default:
      return undefined;
  }
}

/** Converts reasoning with its signature. Options that hold more than the signature are kept as extra. */
export function reasoningPart(
  part: JsonObject,
  field: "providerOptions" | "providerMetadata",
): SdkPart | undefined {
  if (typeof part.text !== "string") return undefined;
  const options = objectOf(part[field]);
  const opaque = options && opaqueOf(options);
  const reasoning: ReasoningPart = { type: "reasoning", text: part.text, ...definedFields({ opaque }) };
  const isTold = JSON.stringify(optionsOfOpaque(opaque)) === JSON.stringify(options);
  const known = ["type", "text", ...(isTold ? [field] : [])];
  return { part: reasoning, extra: fieldsBesides(part, known) };
}

/** Extracts the signature or ciphertext from provider options. */
function opaqueOf(options: JsonObject): Json | undefined {
  const own = objectOf(options.longhaul);
  if (own && own.opaque !== undefined) return own.opaque as Json;
  const anthropic = objectOf(options.anthropic);
  if (typeof anthropic?.signature === "string") return anthropic.signature;
  if (typeof anthropic?.redactedData === "string") return { redacted: anthropic.redactedData };
  const openai = objectOf(options.openai);
  const encrypted = openai?.reasoningEncryptedContent;
  if (typeof encrypted !== "string") return undefined;
  return { ...(typeof openai?.itemId === "string" && { id: openai.itemId }), encrypted_content: encrypted };
}

/** Builds the provider options for a signature or ciphertext; one of an unknown provider goes under our own name. */
export function optionsOfOpaque(opaque: Json | undefined): JsonObject | undefined {
  if (opaque === undefined) return undefined;
  if (typeof opaque === "string") return { anthropic: { signature: opaque } };
  const { redacted, encrypted_content: encrypted, id, ...others } = objectOf(opaque) ?? {};
  const isAlone = Object.keys(others).length === 0;
  if (isAlone && typeof redacted === "string" && encrypted === undefined && id === undefined)
    return { anthropic: { redactedData: redacted } };
  const isItem = id === undefined || typeof id === "string";
  if (isAlone && typeof encrypted === "string" && redacted === undefined && isItem)
    return { openai: { ...(id !== undefined && { itemId: id }), reasoningEncryptedContent: encrypted } };
  return { longhaul: { opaque } };
}

function resultPart(part: JsonObject): SdkPart | undefined {
  const callId = textOf(part.toolCallId);
  if (callId === undefined) return undefined;
  const name = textOf(part.toolName);
  const output = part.output === undefined ? { type: "json", value: part.result } : part.output;
  const known = toolOutputOf(objectOf(output) ?? {});
  if (!known) return undefined;
  const own = objectOf(objectOf(part.providerOptions)?.longhaul)?.isError;
  const isError = known.isError || own === true || part.isError === true ? true : undefined;
  const rest = fieldsBesides(part, ["type", "toolCallId", "toolName", "output", "result", "isError"]);
  const extra = { ...rest, ...known.extra };
  return {
    part: { type: "tool-result", callId, ...definedFields({ name, isError }), output: known.output },
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  };
}

interface Output {
  readonly output: ToolResultInput["output"];
  readonly isError?: boolean;
  readonly extra?: { readonly [field: string]: Json };
}

/** Converts the output of a tool. JSON becomes text; `extra.output` keeps details that the text loses. */
export function toolOutputOf(output: JsonObject): Output | undefined {
  const { type, value } = output;
  const rest = fieldsBesides(output, ["type", "value", "reason"]);
  const extra = rest && { output: rest };
  const isError = typeof type === "string" && type.startsWith("error-");
  switch (type) {
    case "text":
    case "error-text":
      return { output: String(value), isError, ...(extra && { extra }) };
    case "json":
    case "error-json":
      return { output: JSON.stringify(value ?? null), isError, extra: { output: { ...rest, type } } };
    case "execution-denied":
      return { output: textOf(output.reason) ?? "", isError: true, extra: { output: { ...rest, type } } };
    case "content":
      return { output: arrayOf(value).map(contentPiece), ...(extra && { extra }) };
    default:
      return undefined;
  }
}

function contentPiece(value: unknown): Exclude<ToolResultInput["output"], string>[number] {
  const piece = objectOf(value);
  const isText = piece?.type === "text" && typeof piece.text === "string";
  if (isText && !fieldsBesides(piece, ["type", "text"])) return { type: "text", text: piece.text as string };
  const isFile =
    typeof piece?.type === "string" && ["file", "file-data", "image-data", "media"].includes(piece.type);
  const isWhole = piece && !fieldsBesides(piece, ["type", "data", "mediaType", "filename"]);
  const data = isFile && isWhole ? fileData(piece) : undefined;
  return data ?? { type: "raw", format: NAME, value: value as Json };
}

/** Extracts the bytes of a file or image part: base64, a data URL, or an object with either. */
function fileData(part: JsonObject): DataPart | undefined {
  const held = part.data ?? part.image;
  const tagged = objectOf(held);
  const bytes = tagged
    ? tagged.type === "url"
      ? tagged.url
      : tagged.type === "data"
        ? tagged.data
        : undefined
    : held;
  const name = textOf(part.filename);
  return dataPartOfUrl(bytes, name) ?? dataPart(bytes, part.mediaType ?? part.mimeType, name);
}

/** True for a placeholder result, which exists only because a request requires one. */
function isFiller(value: unknown): boolean {
  const part = objectOf(value);
  const output = objectOf(part?.output);
  return part?.type === "tool-result" && output?.type === "error-text" && output.value === NO_RESULT;
}
