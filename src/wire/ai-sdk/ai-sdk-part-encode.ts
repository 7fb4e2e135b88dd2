import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { BlobPart, Part, RawPart, ToolResultPart } from "../../model/part.ts";
import { omitFields, toObject } from "../fields.ts";
import { isMedia, type MessagePiece } from "../message-pieces.ts";
import type { PartSource } from "../part-source.ts";
import type { ResultPiece } from "../request-turns.ts";
import type { WireObject } from "../wire.ts";
import { buildProviderOptions } from "./ai-sdk-part-decode.ts";

const NAME = "ai-sdk";

/** Builds the part of a ModelMessage; undefined for raw parts of other formats, which it cannot represent. */
export async function encodeModelPart(
  piece: MessagePiece,
  session: PartSource,
): Promise<WireObject | undefined> {
  const { part } = piece;
  const extra = toModelExtra(piece.extra);
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...extra };
    case "reasoning":
      return encodeReasoningPart(part, "providerOptions", extra);
    case "tool-call":
      return { type: "tool-call", toolCallId: part.callId, toolName: part.name, input: part.input, ...extra };
    case "blob":
      return isMedia(part) ? encodeFilePart(part, extra, session) : undefined;
    case "raw":
      return encodeRawModelPart(part);
    case "tool-result":
      return undefined;
  }
}

/** Fields that only parts of UIMessages have. */
const UI_FIELDS = ["state", "approval", "dynamic", "title", "toolMetadata", "preliminary", "citations", "id"];
const UI_OPTIONS = ["providerMetadata", "callProviderMetadata", "resultProviderMetadata"];

/** Converts kept fields to those of ModelMessages, even if they came from a UIMessage. */
function toModelExtra(extra: WireObject = {}): WireObject {
  const options = extra.providerOptions ?? extra.providerMetadata ?? extra.callProviderMetadata;
  const rest = omitFields(extra, [...UI_FIELDS, ...UI_OPTIONS]);
  return { ...rest, ...dropUndefined({ providerOptions: options }) };
}

/** Converts kept fields to those of UIMessages, even if they came from a ModelMessage. */
export function toUiExtra(extra: WireObject = {}, field = "providerMetadata"): WireObject {
  const { providerOptions, ...rest } = extra;
  return { ...(providerOptions !== undefined && { [field]: providerOptions }), ...rest };
}

/** Types of unknown parts that only one of the two message kinds may hold. */
const MODEL_TYPES: readonly unknown[] = [
  "tool-approval-request",
  "tool-approval-response",
  "tool-call",
  "tool-result",
];
const UI_TYPES = /^(source-|data-|steering-message$|step-|tool-invocation$)/;

function encodeRawModelPart(part: RawPart): WireObject | undefined {
  const value = part.format === NAME ? toObject(part.value) : undefined;
  if (!value || UI_TYPES.test(String(value.type)) || "url" in value) return undefined;
  return value;
}

/** Returns an unknown part of a UIMessage unchanged; undefined for those of other formats and of ModelMessages. */
export function encodeRawUiPart(part: RawPart): WireObject | undefined {
  const value = part.format === NAME ? toObject(part.value) : undefined;
  return value && !MODEL_TYPES.includes(value.type) && !(value.type === "file" && "data" in value)
    ? value
    : undefined;
}

/** Builds reasoning with its signature where the provider expects it. */
export function encodeReasoningPart(
  part: Part & { type: "reasoning" },
  field: "providerOptions" | "providerMetadata",
  extra: WireObject,
): WireObject {
  const options = buildProviderOptions(part.opaque);
  return { type: "reasoning", text: part.text, ...(options && { [field]: options }), ...extra };
}

async function encodeFilePart(part: BlobPart, extra: WireObject, session: PartSource): Promise<WireObject> {
  const data = await session.base64(part);
  const filename = part.name === undefined ? {} : { filename: part.name };
  if (extra.type === "image") return { image: data, mediaType: part.mime, ...extra };
  return { type: "file", mediaType: part.mime, ...filename, data: { type: "data", data }, ...extra };
}

/** Builds the result of a tool in a ModelMessage. */
export async function encodeResultPart(
  { part, callName, extra }: ResultPiece,
  session: PartSource,
): Promise<WireObject> {
  const { output: original, ...rest } = toModelExtra(extra);
  const output = await encodeOutput(part, toObject(original), session);
  const isMarked = part.isError === true && output.type === "content";
  const options = isMarked ? { providerOptions: { longhaul: { isError: true } } } : {};
  return {
    type: "tool-result",
    toolCallId: part.callId,
    toolName: part.name ?? callName,
    output,
    ...options,
    ...rest,
  };
}

/** Builds the output of a tool: text, JSON, or pieces. `original` is the form that an import kept. */
async function encodeOutput(
  part: ToolResultPart,
  original: WireObject | undefined,
  session: PartSource,
): Promise<WireObject> {
  const rest = original && omitFields(original, ["type"]);
  const text = getPlainText(part);
  if (original?.type === "execution-denied")
    return { type: "execution-denied", ...(text ? { reason: text } : {}), ...rest };
  const json =
    original?.type === "json" || original?.type === "error-json" ? parseOptionalJson(text) : undefined;
  if (json) return { type: part.isError ? "error-json" : "json", value: json.value, ...rest };
  if (text !== undefined) return { type: part.isError ? "error-text" : "text", value: text, ...rest };
  return { type: "content", value: await encodeContentPieces(part, session), ...rest };
}

/** Returns the output if it is a single text; undefined for several pieces, media or no output. */
export function getPlainText({ output }: ToolResultPart): string | undefined {
  const [first] = output;
  if (!first) return undefined;
  return output.length === 1 && first.type === "text" ? first.text : undefined;
}

/** Parses a text as JSON; undefined if it is not. */
export function parseOptionalJson(text: string | undefined): { readonly value: Json } | undefined {
  if (text === undefined) return undefined;
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}

/** Builds the pieces of an output of type "content". */
export async function encodeContentPieces(
  part: ToolResultPart,
  session: PartSource,
): Promise<readonly WireObject[]> {
  const pieces: WireObject[] = [];
  for (const piece of part.output) {
    const written = await encodeModelPart({ part: piece }, session);
    if (written) pieces.push(written);
  }
  return pieces;
}
