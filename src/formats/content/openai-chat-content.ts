import type { Json, PartInput, ToolResultInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseJson } from "../reading/parse-json.ts";
import type { Content } from "./blocks.ts";
import { arrayOf, fieldsBesides, objectOf, textOf } from "./fields.ts";
import { dataPart, dataPartOfUrl } from "./media.ts";

const NAME = "openai-chat";

type Extra = readonly [index: string, fields: { readonly [field: string]: Json }];

interface KnownPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/**
 * Converts the content of a chat message: null, a string, or content parts. Unknown parts become raw parts of `format`.
 */
export function contentOfChat(content: unknown, format: string = NAME): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const parts: PartInput[] = [];
  const extras: Extra[] = [];
  for (const [index, value] of arrayOf(content).entries()) {
    const fields = objectOf(value);
    const known = fields && partOfContent(fields);
    parts.push(known?.part ?? { type: "raw", format, value: value as Json });
    if (known?.extra) extras.push([String(index), known.extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

/** Converts the output of a tool message. Parts other than plain text or bytes stay raw. */
export function chatOutputOf(content: unknown, format: string = NAME): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  const { parts, extras } = contentOfChat(content, format);
  return parts.map((part, index) => {
    const isWhole = extras?.[String(index)] === undefined;
    if (isWhole && (part.type === "text" || part.type === "data")) return part;
    return { type: "raw", format, value: arrayOf(content)[index] as Json };
  });
}

/** Converts an entry of `tool_calls`; undefined if it is not a call. */
export function callOfChat(value: unknown): KnownPart | undefined {
  const call = objectOf(value);
  const callId = textOf(call?.id);
  const target = objectOf(call?.function) ?? objectOf(call?.custom);
  const name = textOf(target?.name);
  if (!call || !target || callId === undefined || name === undefined) return undefined;
  if (objectOf(call.custom)) {
    const extra = { type: "custom", ...fieldsBesides(call, ["id", "type", "custom"]) };
    return { part: { type: "tool-call", callId, name, input: (target.input ?? "") as Json }, extra };
  }
  const { input, extra } = argumentsOf(target.arguments);
  const rest = { ...fieldsBesides(call, ["id", "type", "function", "index"]), ...extra };
  return {
    part: { type: "tool-call", callId, name, input },
    extra: Object.keys(rest).length > 0 ? rest : undefined,
  };
}

/** Parses arguments; text that is not JSON becomes the input itself and is kept in `extra`. */
export function argumentsOf(value: unknown): {
  readonly input: Json;
  readonly extra?: { readonly arguments: string };
} {
  if (typeof value !== "string") return { input: (value ?? {}) as Json };
  if (value.trim() === "") return { input: {} };
  try {
    return { input: parseJson(value) as Json };
  } catch {
    return { input: value, extra: { arguments: value } };
  }
}

function partOfContent(part: JsonObject): KnownPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return { part: { type: "text", text: part.text }, extra: fieldsBesides(part, ["type", "text"]) };
    case "image_url": {
      const image = typeof part.image_url === "string" ? { url: part.image_url } : objectOf(part.image_url);
      const data = image && dataPartOfUrl(image.url);
      return data && { part: data, extra: restOf(part, "image_url", fieldsBesides(image, ["url"])) };
    }
    case "input_audio": {
      const audio = objectOf(part.input_audio);
      const data = audio && dataPart(audio.data, `audio/${textOf(audio.format) ?? "wav"}`);
      return data && { part: data, extra: restOf(part, "input_audio", fieldsBesides(audio, ["data"])) };
    }
    case "file": {
      const file = objectOf(part.file);
      const data = file && dataPartOfUrl(file.file_data, textOf(file.filename));
      return (
        data && { part: data, extra: restOf(part, "file", fieldsBesides(file, ["file_data", "filename"])) }
      );
    }
    default:
      return undefined;
  }
}

/** Collects the fields of a part other than its bytes, inside and outside the object that holds them. */
function restOf(
  part: JsonObject,
  field: string,
  inside: { readonly [field: string]: Json } | undefined,
): KnownPart["extra"] {
  const beside = fieldsBesides(part, ["type", field]);
  return inside || beside ? { ...beside, ...(inside && { [field]: inside }) } : undefined;
}
