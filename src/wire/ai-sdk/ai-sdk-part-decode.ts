import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { DataPart, PartInput, ReasoningPart, ToolResultInput } from "../../model/part.ts";
import type { Content, Extras } from "../block-content.ts";
import { omitFields, toArray, toObject, toText } from "../fields.ts";
import { buildDataPart, parseDataUrl } from "../media.ts";
import { NO_RESULT } from "../result-marks.ts";
import type { WireObject } from "../wire.ts";

const NAME = "ai-sdk";

/** A part with foreign fields that it cannot represent. */
export interface AiSdkPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of a ModelMessage, a string or parts. Unknown parts become raw. */
export function decodeModelContent(content: unknown): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  return collectContent(
    toArray(content)
      .filter((value) => !isFiller(value))
      .map(decodePart),
  );
}

/** Collects parts and their extras by index. */
export function collectContent(all: readonly AiSdkPart[]): Content {
  const extras = all.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const parts = all.map(({ part }) => part);
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) as Extras } : { parts };
}

/** Keeps a value as a raw part. */
export function buildRawSdkPart(value: unknown): AiSdkPart {
  return { part: { type: "raw", format: NAME, value: value as Json } };
}

function decodePart(value: unknown): AiSdkPart {
  const part = toObject(value);
  return (part && decodeKnownPart(part)) ?? buildRawSdkPart(value);
}

function decodeKnownPart(part: WireObject): AiSdkPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return { part: { type: "text", text: part.text }, extra: omitFields(part, ["type", "text"]) };
    case "reasoning":
      return decodeReasoningPart(part, "providerOptions");
    case "file":
    case "image": {
      const data = decodeFile(part);
      const isImage = part.type === "image";
      const rest = {
        ...(isImage && { type: "image" }),
        ...omitFields(part, ["type", "data", "image", "mediaType", "mimeType", "filename"]),
      };
      return data && { part: data, extra: Object.keys(rest).length > 0 ? rest : undefined };
    }
    case "tool-call": {
      const [callId, name] = [toText(part.toolCallId), toText(part.toolName)];
      if (callId === undefined || name === undefined) return undefined;
      const input = (part.input ?? part.args ?? {}) as Json;
      const extra = omitFields(part, ["type", "toolCallId", "toolName", "input", "args"]);
      return { part: { type: "tool-call", callId, name, input }, extra };
    }
    case "tool-result":
      return decodeResultPart(part);
    default:
      return undefined;
  }
}

/** Converts reasoning with its signature. Options that hold more than the signature are kept as extra. */
export function decodeReasoningPart(
  part: WireObject,
  field: "providerOptions" | "providerMetadata",
): AiSdkPart | undefined {
  if (typeof part.text !== "string") return undefined;
  const options = toObject(part[field]);
  const opaque = options && findOpaque(options);
  const reasoning: ReasoningPart = { type: "reasoning", text: part.text, ...dropUndefined({ opaque }) };
  const isRestorable = JSON.stringify(buildProviderOptions(opaque)) === JSON.stringify(options);
  const known = ["type", "text", ...(isRestorable ? [field] : [])];
  return { part: reasoning, extra: omitFields(part, known) };
}

/** Extracts the signature or ciphertext from provider options. */
function findOpaque(options: WireObject): Json | undefined {
  const own = toObject(options.longhaul);
  if (own && own.opaque !== undefined) return own.opaque as Json;
  const anthropic = toObject(options.anthropic);
  if (typeof anthropic?.signature === "string") return anthropic.signature;
  if (typeof anthropic?.redactedData === "string") return { redacted: anthropic.redactedData };
  const openai = toObject(options.openai);
  const encrypted = openai?.reasoningEncryptedContent;
  if (typeof encrypted !== "string") return undefined;
  return { ...(typeof openai?.itemId === "string" && { id: openai.itemId }), encrypted_content: encrypted };
}

/** Builds the provider options for a signature or ciphertext; one of an unknown provider goes under our own name. */
export function buildProviderOptions(opaque: Json | undefined): WireObject | undefined {
  if (opaque === undefined) return undefined;
  if (typeof opaque === "string") return { anthropic: { signature: opaque } };
  const { redacted, encrypted_content: encrypted, id, ...others } = toObject(opaque) ?? {};
  const isAlone = Object.keys(others).length === 0;
  if (isAlone && typeof redacted === "string" && encrypted === undefined && id === undefined)
    return { anthropic: { redactedData: redacted } };
  const isItem = id === undefined || typeof id === "string";
  if (isAlone && typeof encrypted === "string" && redacted === undefined && isItem)
    return { openai: { ...dropUndefined({ itemId: id }), reasoningEncryptedContent: encrypted } };
  return { longhaul: { opaque } };
}

function decodeResultPart(part: WireObject): AiSdkPart | undefined {
  const callId = toText(part.toolCallId);
  if (callId === undefined) return undefined;
  const name = toText(part.toolName);
  const output = part.output === undefined ? { type: "json", value: part.result } : part.output;
  const known = decodeSdkToolOutput(toObject(output) ?? {});
  if (!known) return undefined;
  const own = toObject(toObject(part.providerOptions)?.longhaul)?.isError;
  const isError = known.isError || own === true || part.isError === true ? true : undefined;
  const rest = omitFields(part, ["type", "toolCallId", "toolName", "output", "result", "isError"]);
  const extra = { ...rest, ...known.extra };
  return {
    part: { type: "tool-result", callId, ...dropUndefined({ name, isError }), output: known.output },
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  };
}

interface DecodedOutput {
  readonly output: ToolResultInput["output"];
  readonly isError?: boolean;
  readonly extra?: { readonly [field: string]: Json };
}

/** Converts the output of a tool. JSON becomes text; `extra.output` keeps details that the text loses. */
export function decodeSdkToolOutput(output: WireObject): DecodedOutput | undefined {
  const { type, value } = output;
  const rest = omitFields(output, ["type", "value", "reason"]);
  const extra = rest && { output: rest };
  const isError = typeof type === "string" && type.startsWith("error-");
  switch (type) {
    case "text":
    case "error-text":
      return { output: String(value), isError, ...dropUndefined({ extra }) };
    case "json":
    case "error-json":
      return { output: JSON.stringify(value ?? null), isError, extra: { output: { ...rest, type } } };
    case "execution-denied":
      return { output: toText(output.reason) ?? "", isError: true, extra: { output: { ...rest, type } } };
    case "content":
      return { output: toArray(value).map(decodePiece), ...dropUndefined({ extra }) };
    default:
      return undefined;
  }
}

function decodePiece(value: unknown): Exclude<ToolResultInput["output"], string>[number] {
  const piece = toObject(value);
  const isText = piece?.type === "text" && typeof piece.text === "string";
  if (isText && !omitFields(piece, ["type", "text"])) return { type: "text", text: piece.text as string };
  const isFile =
    typeof piece?.type === "string" && ["file", "file-data", "image-data", "media"].includes(piece.type);
  const isWhole = piece && !omitFields(piece, ["type", "data", "mediaType", "filename"]);
  const data = isFile && isWhole ? decodeFile(piece) : undefined;
  return data ?? { type: "raw", format: NAME, value: value as Json };
}

/** Extracts the bytes of a file or image part: base64, a data URL, or an object with either. */
function decodeFile(part: WireObject): DataPart | undefined {
  const held = part.data ?? part.image;
  const tagged = toObject(held);
  const bytes = tagged
    ? tagged.type === "url"
      ? tagged.url
      : tagged.type === "data"
        ? tagged.data
        : undefined
    : held;
  const name = toText(part.filename);
  return parseDataUrl(bytes, name) ?? buildDataPart(bytes, part.mediaType ?? part.mimeType, name);
}

/** True for a placeholder result, which exists only because a request requires one. */
function isFiller(value: unknown): boolean {
  const part = toObject(value);
  const output = toObject(part?.output);
  return part?.type === "tool-result" && output?.type === "error-text" && output.value === NO_RESULT;
}
