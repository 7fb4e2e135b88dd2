import { parseJson } from "../../model/base/parse-json.ts";
import type { Json } from "../../model/json.ts";
import type { PartInput, ToolResultInput } from "../../model/part.ts";
import type { Content } from "../block-content.ts";
import { omitFields, toArray, toObject, toText } from "../fields.ts";
import { buildDataPart, parseDataUrl } from "../media.ts";
import type { WireObject } from "../wire.ts";

const NAME = "openai-chat";
const TEXT_FIELDS = ["type", "text"];

type IndexedExtra = readonly [index: string, fields: { readonly [field: string]: Json }];

interface DecodedPart {
  readonly part: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/**
 * Converts the content of a chat message: null, a string, or content parts. Unknown parts become raw parts of `format`.
 */
export function decodeChatContent(content: unknown, format: string = NAME): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const parts: PartInput[] = [];
  const extras: IndexedExtra[] = [];
  for (const [index, value] of toArray(content).entries()) {
    const fields = toObject(value);
    const known = fields && decodeContentPart(fields);
    parts.push(known?.part ?? { type: "raw", format, value: value as Json });
    if (known?.extra) extras.push([String(index), known.extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

/** Converts the output of a tool message. Parts other than plain text or bytes stay raw. */
export function decodeChatOutput(content: unknown, format: string = NAME): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  const { parts, extras } = decodeChatContent(content, format);
  return parts.map((part, index) => {
    const isWhole = extras?.[String(index)] === undefined;
    if (isWhole && (part.type === "text" || part.type === "data")) return part;
    return { type: "raw", format, value: toArray(content)[index] as Json };
  });
}

/** Converts an entry of `tool_calls`; undefined if it is not a call. */
export function decodeChatCall(value: unknown): DecodedPart | undefined {
  const call = toObject(value);
  const callId = toText(call?.id);
  const target = toObject(call?.function) ?? toObject(call?.custom);
  const name = toText(target?.name);
  if (!call || !target || callId === undefined || name === undefined) return undefined;
  if (toObject(call.custom)) {
    const extra = { type: "custom", ...omitFields(call, ["id", "type", "custom"]) };
    return { part: { type: "tool-call", callId, name, input: (target.input ?? "") as Json }, extra };
  }
  const { input, extra } = parseCallArguments(target.arguments);
  const rest = { ...omitFields(call, ["id", "type", "function", "index"]), ...extra };
  return {
    part: { type: "tool-call", callId, name, input },
    extra: Object.keys(rest).length > 0 ? rest : undefined,
  };
}

/** Parses arguments; text that is not JSON becomes the input itself and is kept in `extra`. */
export function parseCallArguments(value: unknown): {
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

function decodeContentPart(part: WireObject): DecodedPart | undefined {
  switch (part.type) {
    case "text":
      if (typeof part.text !== "string") return undefined;
      return { part: { type: "text", text: part.text }, extra: omitFields(part, TEXT_FIELDS) };
    case "image_url": {
      const image = typeof part.image_url === "string" ? { url: part.image_url } : toObject(part.image_url);
      const data = image && parseDataUrl(image.url);
      return data && { part: data, extra: collectExtra(part, "image_url", omitFields(image, ["url"])) };
    }
    case "input_audio": {
      const audio = toObject(part.input_audio);
      const data = audio && buildDataPart(audio.data, `audio/${toText(audio.format) ?? "wav"}`);
      return data && { part: data, extra: collectExtra(part, "input_audio", omitFields(audio, ["data"])) };
    }
    case "file": {
      const file = toObject(part.file);
      const data = file && parseDataUrl(file.file_data, toText(file.filename));
      return (
        data && { part: data, extra: collectExtra(part, "file", omitFields(file, ["file_data", "filename"])) }
      );
    }
    default:
      return undefined;
  }
}

/** Collects the fields of a part other than its bytes, inside and outside the object that holds them. */
function collectExtra(
  part: WireObject,
  field: string,
  inside: { readonly [field: string]: Json } | undefined,
): DecodedPart["extra"] {
  const beside = omitFields(part, ["type", field]);
  return inside || beside ? { ...beside, ...(inside && { [field]: inside }) } : undefined;
}
