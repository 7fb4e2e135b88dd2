import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { MessageInput } from "../../model/message.ts";
import type {
  BlobPart,
  Part,
  PartInput,
  ToolCallPart,
  ToolResultInput,
  ToolResultPart,
} from "../../model/part.ts";
import {
  type Content,
  decodeBlockContent,
  decodeBlockOutput,
  type Extras,
  type KnownPart,
} from "../block-content.ts";
import { omitFields, toArray, toObject, toText } from "../fields.ts";
import { buildDataPart } from "../media.ts";
import type { PartSource } from "../part-source.ts";
import type { WireObject } from "../wire.ts";

/** The name of the format, for raw parts and meta. */
export const GOOGLE_NAME = "google";

/** Begins ids of calls that have none: Google pairs calls and results by their names and order. */
const UNNAMED = "google:";

/** The parts of a content with their fields in camel case; Google takes them with underscores too. */
export function listGoogleParts(parts: unknown): readonly unknown[] {
  return toArray(parts).map((given) => {
    const part = toObject(given) && toCamelCase(toObject(given) as WireObject);
    const data = toObject(part?.inlineData);
    return data ? { ...part, inlineData: toCamelCase(data) } : (part ?? given);
  });
}

const UNDERSCORED =
  /^(?:function_(?:call|response|declarations)|inline_data|thought_signature|mime_type|display_name)$/;

/** Renames those of the object's own fields that are read here; unknown fields stay as they are. */
export function toCamelCase(value: WireObject): WireObject {
  if (!Object.keys(value).some((name) => UNDERSCORED.test(name))) return value;
  const rename = (name: string) =>
    UNDERSCORED.test(name) ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [rename(name), field]));
}

/** Converts the parts of a content. Unknown parts stay raw; thought signatures stay as they are. */
export function decodeGoogleParts(parts: unknown): Content {
  const counts = new Map<string, number>();
  const name = (kind: string, given: unknown) => {
    const tool = toText(given) ?? "";
    const count = counts.get(kind + tool) ?? 0;
    counts.set(kind + tool, count + 1);
    return `${UNNAMED}${tool}:${count}`;
  };
  return decodeBlockContent(listGoogleParts(parts), GOOGLE_NAME, (part) => decodePart(part, name));
}

type Namer = (kind: string, tool: unknown) => string;

function decodePart(part: WireObject, name: Namer): KnownPart | undefined {
  if (typeof part.text === "string") {
    if (part.thought !== true) return { part: { type: "text", text: part.text }, fields: ["text"] };
    const opaque = toText(part.thoughtSignature);
    return {
      part: {
        type: "reasoning",
        text: part.text,
        ...(opaque !== undefined && { opaque: { [GOOGLE_NAME]: opaque } }),
      },
      fields: ["text", "thought", "thoughtSignature"],
    };
  }
  const call = toObject(part.functionCall);
  if (call) return decodeCall(call, name);
  const response = toObject(part.functionResponse);
  if (response) return { part: decodeResponse(response, name), fields: ["functionResponse"] };
  const data = toObject(part.inlineData);
  if (!data || omitFields(data, ["mimeType", "data", "displayName"])) return undefined;
  const media = buildDataPart(data.data, data.mimeType, toText(data.displayName));
  return media && { part: media, fields: ["inlineData"] };
}

function decodeCall(call: WireObject, name: Namer): KnownPart | undefined {
  if (typeof call.name !== "string" || omitFields(call, ["id", "name", "args"])) return undefined;
  const counted = name("call", call.name);
  const callId = toText(call.id) ?? counted;
  return {
    part: { type: "tool-call", callId, name: call.name, input: (call.args ?? {}) as Json },
    fields: ["functionCall"],
  };
}

function decodeResponse(given: WireObject, name: Namer): ToolResultInput {
  const counted = name("result", given.name);
  const callId = toText(given.id) ?? counted;
  const response = toObject(given.response);
  // Tools that succeed may name their error too, as null.
  const isError = Boolean(response?.error);
  const text = readResponseText(given.response);
  const rest = omitFields(given, ["id", "name", "response", "parts"]);
  const more = [...listGoogleParts(given.parts), ...(rest ? [rest] : [])];
  const decode = (block: WireObject) => decodePart(block, name);
  const output = more.length === 0 ? text : decodeBlockOutput([{ text }, ...more], GOOGLE_NAME, decode);
  return { type: "tool-result", callId, ...(isError && { isError }), output };
}

/** The text of a function's response: its `output` or `error` if it has nothing else, else its JSON. */
function readResponseText(response: unknown): string {
  const fields = toObject(response);
  const [first, ...others] = Object.entries(fields ?? {}).filter(([, value]) => value !== null);
  const isPlain = first && others.length === 0 && /^(?:output|error|result)$/.test(first[0]);
  if (isPlain && typeof first[1] === "string") return first[1];
  return response === undefined ? "" : JSON.stringify(response);
}

/** A message whose results have the ids of `calls`, in order: some clients invent ids for results of calls without one. */
export function pairGoogleResults(message: MessageInput, calls: readonly string[]): MessageInput {
  const { parts = [] } = message;
  const given = parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
  const isPaired = given.every((id) => calls.includes(id));
  const areUnnamed = calls.every((id) => id.startsWith(UNNAMED));
  if (isPaired || given.length !== calls.length || !areUnnamed) return message;
  let next = 0;
  const pair = (part: PartInput) =>
    part.type === "tool-result" ? { ...part, callId: calls[next++] as string } : part;
  return { ...message, parts: parts.map(pair) };
}

/** The id of a call as Google knows it; undefined if the call has none there. */
function toOwnId(callId: string): { readonly id?: string } {
  return callId.startsWith(UNNAMED) ? {} : { id: callId };
}

/** Converts parts to Google's, one each in order; `extras` are restored by index. */
export async function encodeGoogleParts(
  parts: readonly Part[],
  source: PartSource,
  extras?: Extras,
): Promise<readonly WireObject[]> {
  const encoded: WireObject[] = [];
  for (const [index, stored] of parts.entries()) {
    const part = await encodePart(await source.restore(stored), source);
    encoded.push({ ...part, ...toObject(extras?.[String(index)]) });
  }
  return encoded;
}

async function encodePart(part: Part, source: PartSource): Promise<WireObject> {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "reasoning": {
      const signature = toText(toObject(part.opaque)?.[GOOGLE_NAME]);
      return { text: part.text, thought: true, ...dropUndefined({ thoughtSignature: signature }) };
    }
    case "tool-call":
      return buildCallPart(part);
    case "tool-result":
      return buildResponsePart(part, await describeOutput(part, source));
    case "blob":
      return buildMediaPart(part, await source.base64(part));
    case "raw":
      return part.format === GOOGLE_NAME
        ? (toObject(part.value) ?? {})
        : { text: JSON.stringify(part.value) };
  }
}

async function describeOutput({ output }: ToolResultPart, source: PartSource): Promise<string> {
  const texts: string[] = [];
  for (const stored of output) {
    const part = await source.restore(stored);
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "blob")
      texts.push(`[${part.name ?? "file"}: ${part.mime}, ${part.sizeBytes} bytes]`);
  }
  return texts.join("\n");
}

export function buildCallPart({ callId, name, input }: ToolCallPart): WireObject {
  return { functionCall: { ...toOwnId(callId), name, args: toObject(input) ?? { input } } };
}

/** A function's response with a text. `name` is that of its call. */
export function buildResponsePart(
  { callId, isError, name }: Pick<ToolResultPart, "callId" | "isError" | "name">,
  text: string,
): WireObject {
  const own =
    name ?? (callId.startsWith(UNNAMED) ? callId.slice(UNNAMED.length).replace(/:\d+$/, "") : callId);
  return {
    functionResponse: { ...toOwnId(callId), name: own, response: { [isError ? "error" : "output"]: text } },
  };
}

export function buildMediaPart({ mime, name }: BlobPart, base64: string): WireObject {
  return { inlineData: { mimeType: mime, data: base64, ...dropUndefined({ displayName: name }) } };
}
