import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { PartInput, ToolResultInput } from "../../model/part.ts";
import { omitFields, toArray, toObject, toText } from "../fields.ts";
import { buildDataPart, parseDataUrl } from "../media.ts";
import { parseCallArguments } from "../openai-chat/chat-content-decode.ts";
import { withoutErrorMark } from "../result-marks.ts";
import type { WireObject } from "../wire.ts";

const NAME = "openai-responses";

/** A part with fields of its item that it cannot represent. */
export interface ItemPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of a message item. Fields of the item itself go with the first part, as `item`. */
export function decodeMessageItem(item: WireObject): readonly ItemPart[] {
  const { content } = item;
  const beside = omitFields(item, ["type", "role", "content"]);
  const parts: readonly ItemPart[] =
    typeof content === "string"
      ? [{ part: { type: "text", text: content } }]
      : toArray(content).map((value) => decodeContentPart(value) ?? { part: buildRawPart(value) });
  const [first, ...others] = parts;
  if (!first || !beside) return parts;
  return [{ ...first, extra: { ...first.extra, item: beside } }, ...others];
}

/** Types of calls other than function calls, with the field that holds their input. */
export const CALL_FIELDS: ReadonlyMap<string, string> = new Map([
  ["custom_tool_call", "input"],
  ["local_shell_call", "action"],
  ["shell_call", "action"],
  ["apply_patch_call", "operation"],
]);

/** Converts an item of a model's turn other than a message; unknown items become raw. */
export function decodeResponsesItem(item: WireObject): ItemPart {
  if (item.type === "reasoning") return decodeReasoning(item);
  if (item.type === "image_generation_call") return decodeGeneratedImage(item);
  const type = toText(item.type) ?? "";
  const callId = toText(item.call_id);
  const name = toText(item.name) ?? (CALL_FIELDS.has(type) ? type.replace(/_call$/, "") : undefined);
  if (callId === undefined || name === undefined) return { part: buildRawPart(item) };
  if (type === "function_call") {
    const { input, extra } = parseCallArguments(item.arguments);
    const rest = { ...omitFields(item, ["type", "call_id", "name", "arguments"]), ...extra };
    return { part: { type: "tool-call", callId, name, input }, extra: toNonEmpty(rest) };
  }
  const field = CALL_FIELDS.get(type);
  if (field === undefined) return { part: buildRawPart(item) };
  const input = (item[field] ?? null) as Json;
  const extra = { type, ...omitFields(item, ["type", "call_id", "name", field]) };
  return { part: { type: "tool-call", callId, name, input }, extra };
}

/** Converts a generated image; raw as long as there is no result. */
function decodeGeneratedImage(item: WireObject): ItemPart {
  const part = buildDataPart(item.result, "image/png");
  return part ? { part, extra: omitFields(item, ["type", "result"]) } : { part: buildRawPart(item) };
}

/** Converts an output item to a result, raw if its kind is unknown; undefined for other items. */
export function decodeOutputItem(item: WireObject): ItemPart | undefined {
  const type = toText(item.type);
  if (!type?.endsWith("_output")) return undefined;
  const callId = toText(item.call_id);
  const isCall = type === "function_call_output" || CALL_FIELDS.has(type.slice(0, -"_output".length));
  const isKnown = isCall && (typeof item.output === "string" || Array.isArray(item.output));
  if (callId === undefined || !isKnown) return { part: buildRawPart(item) };
  const { output, isError } = decodeOutput(item.output);
  const rest = {
    ...(type !== "function_call_output" && { type }),
    ...omitFields(item, ["type", "call_id", "output"]),
  };
  return {
    part: { type: "tool-result", callId, ...dropUndefined({ isError }), output },
    extra: toNonEmpty(rest),
  };
}

function decodeOutput(value: unknown): Pick<ToolResultInput, "output"> & { readonly isError?: true } {
  if (typeof value === "string") {
    const text = withoutErrorMark(value);
    return text === undefined ? { output: value } : { output: text, isError: true };
  }
  const pieces = toArray(value).map((piece) => {
    const known = decodeContentPart(piece);
    const isWhole = known && known.extra === undefined;
    return isWhole && (known.part.type === "text" || known.part.type === "data")
      ? known.part
      : buildRawPart(piece);
  });
  const [first] = pieces;
  const isError = first?.type === "text" && withoutErrorMark(first.text) === "";
  return isError ? { output: pieces.slice(1), isError: true } : { output: pieces };
}

/**
 * Converts reasoning. Id and ciphertext stay together and unchanged; the text is the reasoning, or else its summary.
 */
function decodeReasoning(item: WireObject): ItemPart {
  const opaque = omitFields(item, ["type", "summary", "content"]);
  const summary = toArray(item.summary);
  const content = toArray(item.content);
  const words = content.length > 0 ? content : summary;
  const texts = words.map((word) => toText(toObject(word)?.text) ?? "");
  // Keep lists that the joined text cannot reproduce.
  const isPlain = content.length === 0 && isPlainSummary(summary);
  const extra = isPlain
    ? undefined
    : { summary: summary as Json, ...(content.length > 0 && { content: content as Json }) };
  return { part: { type: "reasoning", text: texts.join("\n\n"), ...dropUndefined({ opaque }) }, extra };
}

function isPlainSummary(summary: readonly unknown[]): boolean {
  const [only] = summary.map(toObject);
  if (summary.length === 0) return true;
  return summary.length === 1 && only?.type === "summary_text" && !omitFields(only, ["type", "text"]);
}

function decodeContentPart(value: unknown): ItemPart | undefined {
  const part = toObject(value);
  switch (part?.type) {
    case "input_text":
    case "output_text":
    case "text": {
      if (typeof part.text !== "string") return undefined;
      const rest = omitFields(part, ["type", "text"]);
      return { part: { type: "text", text: part.text }, extra: rest && withoutEmptyLists(rest) };
    }
    case "input_image": {
      const data = parseDataUrl(part.image_url);
      return data && { part: data, extra: omitFields(part, ["type", "image_url"]) };
    }
    case "input_file": {
      const data = parseDataUrl(part.file_data, toText(part.filename));
      return data && { part: data, extra: omitFields(part, ["type", "file_data", "filename"]) };
    }
    default:
      return undefined;
  }
}

/** Removes the lists of annotations and probabilities that are nearly always empty in responses. */
function withoutEmptyLists(fields: { readonly [field: string]: Json }): ItemPart["extra"] {
  return toNonEmpty(
    Object.fromEntries(
      Object.entries(fields).filter(([, value]) => !Array.isArray(value) || value.length > 0),
    ),
  );
}

function toNonEmpty(fields: { readonly [field: string]: Json }): ItemPart["extra"] {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function buildRawPart(value: unknown) {
  return { type: "raw", format: NAME, value: value as Json } as const;
}
