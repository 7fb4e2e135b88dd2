import type { Json, PartInput, ToolResultInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "./fields.ts";
import { withoutErrorMark } from "./marks.ts";
import { dataPart, dataPartOfUrl } from "./media.ts";
import { argumentsOf } from "./openai-chat-content.ts";

const NAME = "openai-responses";

/** A part with fields of its item that it cannot represent. */
export interface ItemPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of a message item. Fields of the item itself go with the first part, as `item`. */
export function partsOfMessageItem(item: JsonObject): readonly ItemPart[] {
  const { content } = item;
  const beside = fieldsBesides(item, ["type", "role", "content"]);
  const parts: readonly ItemPart[] =
    typeof content === "string"
      ? [{ part: { type: "text", text: content } }]
      : arrayOf(content).map((value) => partOfContent(value) ?? { part: rawPart(value) });
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
export function partOfItem(item: JsonObject): ItemPart {
  if (item.type === "reasoning") return reasoningOf(item);
  if (item.type === "image_generation_call") return generatedImage(item);
  const type = textOf(item.type) ?? "";
  const callId = textOf(item.call_id);
  const name = textOf(item.name) ?? (CALL_FIELDS.has(type) ? type.replace(/_call$/, "") : undefined);
  if (callId === undefined || name === undefined) return { part: rawPart(item) };
  if (type === "function_call") {
    const { input, extra } = argumentsOf(item.arguments);
    const rest = { ...fieldsBesides(item, ["type", "call_id", "name", "arguments"]), ...extra };
    return { part: { type: "tool-call", callId, name, input }, extra: someOf(rest) };
  }
  const field = CALL_FIELDS.get(type);
  if (field === undefined) return { part: rawPart(item) };
  const input = (item[field] ?? null) as Json;
  const extra = { type, ...fieldsBesides(item, ["type", "call_id", "name", field]) };
  return { part: { type: "tool-call", callId, name, input }, extra };
}

/** Converts a generated image; raw as long as there is no result. */
function generatedImage(item: JsonObject): ItemPart {
  const part = dataPart(item.result, "image/png");
  return part ? { part, extra: fieldsBesides(item, ["type", "result"]) } : { part: rawPart(item) };
}

/** Converts an output item to a result, raw if its kind is unknown; undefined for other items. */
export function resultOfItem(item: JsonObject): ItemPart | undefined {
  const type = textOf(item.type);
  if (!type?.endsWith("_output")) return undefined;
  const callId = textOf(item.call_id);
  const isCall = type === "function_call_output" || CALL_FIELDS.has(type.slice(0, -"_output".length));
  const isKnown = isCall && (typeof item.output === "string" || Array.isArray(item.output));
  if (callId === undefined || !isKnown) return { part: rawPart(item) };
  const { output, isError } = outputOf(item.output);
  const rest = {
    ...(type !== "function_call_output" && { type }),
    ...fieldsBesides(item, ["type", "call_id", "output"]),
  };
  return {
    part: { type: "tool-result", callId, ...definedFields({ isError }), output },
    extra: someOf(rest),
  };
}

function outputOf(value: unknown): Pick<ToolResultInput, "output"> & { readonly isError?: true } {
  if (typeof value === "string") {
    const text = withoutErrorMark(value);
    return text === undefined ? { output: value } : { output: text, isError: true };
  }
  const pieces = arrayOf(value).map((piece) => {
    const known = partOfContent(piece);
    const isWhole = known && known.extra === undefined;
    return isWhole && (known.part.type === "text" || known.part.type === "data")
      ? known.part
      : rawPart(piece);
  });
  const [first] = pieces;
  const isError = first?.type === "text" && withoutErrorMark(first.text) === "";
  return isError ? { output: pieces.slice(1), isError: true } : { output: pieces };
}

/**
 * Converts reasoning. Id and ciphertext stay together and unchanged; the text is the reasoning, or else its summary.
 */
function reasoningOf(item: JsonObject): ItemPart {
  const opaque = fieldsBesides(item, ["type", "summary", "content"]);
  const summary = arrayOf(item.summary);
  const content = arrayOf(item.content);
  const words = content.length > 0 ? content : summary;
  const texts = words.map((word) => textOf(objectOf(word)?.text) ?? "");
  // Keep lists that the joined text cannot reproduce.
  const isPlain = content.length === 0 && isPlainSummary(summary);
  const extra = isPlain
    ? undefined
    : { summary: summary as Json, ...(content.length > 0 && { content: content as Json }) };
  return { part: { type: "reasoning", text: texts.join("\n\n"), ...(opaque && { opaque }) }, extra };
}

function isPlainSummary(summary: readonly unknown[]): boolean {
  const [only] = summary.map(objectOf);
  if (summary.length === 0) return true;
  return summary.length === 1 && only?.type === "summary_text" && !fieldsBesides(only, ["type", "text"]);
}

function partOfContent(value: unknown): ItemPart | undefined {
  const part = objectOf(value);
  switch (part?.type) {
    case "input_text":
    case "output_text":
    case "text": {
      if (typeof part.text !== "string") return undefined;
      const rest = fieldsBesides(part, ["type", "text"]);
      return { part: { type: "text", text: part.text }, extra: rest && withoutEmptyLists(rest) };
    }
    case "input_image": {
      const data = dataPartOfUrl(part.image_url);
      return data && { part: data, extra: fieldsBesides(part, ["type", "image_url"]) };
    }
    case "input_file": {
      const data = dataPartOfUrl(part.file_data, textOf(part.filename));
      return data && { part: data, extra: fieldsBesides(part, ["type", "file_data", "filename"]) };
    }
    default:
      return undefined;
  }
}

/** Removes the lists of annotations and probabilities that are nearly always empty in responses. */
function withoutEmptyLists(fields: { readonly [field: string]: Json }): ItemPart["extra"] {
  return someOf(
    Object.fromEntries(
      Object.entries(fields).filter(([, value]) => !Array.isArray(value) || value.length > 0),
    ),
  );
}

function someOf(fields: { readonly [field: string]: Json }): ItemPart["extra"] {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function rawPart(value: unknown) {
  return { type: "raw", format: NAME, value: value as Json } as const;
}
