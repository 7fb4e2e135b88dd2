import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Message } from "../../model/message.ts";
import type { BlobPart, Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { toAllowedName } from "../allowed-name.ts";
import { toObject, toText } from "../fields.ts";
import { isMedia, type MessagePiece, restorePieces } from "../message-pieces.ts";
import type { PartSource } from "../part-source.ts";
import type { MessageTurn } from "../request-turns.ts";
import { TOOL_ERROR, withErrorMark } from "../result-marks.ts";
import type { WireObject } from "../wire.ts";
import { OPENAI_RESPONSES_NAME } from "./decode-responses.ts";
import { CALL_FIELDS } from "./openai-responses-items.ts";
import { getResponsesFormat, responsesOutputFormat } from "./responses-block-formats.ts";

/** Converts one message of the log to items. */
export async function encodeResponsesItems(
  message: Message,
  source: PartSource,
): Promise<readonly WireObject[]> {
  const pieces = await restorePieces(message, source, OPENAI_RESPONSES_NAME);
  const items: WireObject[] = [];
  for (const { part, extra } of pieces)
    if (part.type === "tool-result") items.push(await encodeOutputItem(part, extra, source));
  const otherPieces = pieces.filter(({ part }) => part.type !== "tool-result");
  const role = message.role === "tool" ? "user" : message.role;
  for await (const item of encodeMessageItems({ role, message, pieces: otherPieces }, source))
    items.push(item);
  return items;
}

/** Yields a message per stretch of content, and an item for every other part, in order. */
export async function* encodeMessageItems(turn: MessageTurn, source: PartSource): AsyncGenerator<WireObject> {
  const { role, message, pieces } = turn;
  const speaker = role === "system" && getResponsesMeta(message).role === "developer" ? "developer" : role;
  const isOwn = message.meta?.[OPENAI_RESPONSES_NAME] !== undefined;
  let content: WireObject[] = [];
  let beside: WireObject = {};
  const flush = function* (): Generator<WireObject> {
    if (content.length > 0) yield { type: "message", ...beside, role: speaker, content };
    content = [];
    beside = {};
  };
  for (const piece of pieces) {
    const { item: own, ...extra } = piece.extra ?? {};
    const isMade = role === "assistant" && isMedia(piece.part) && piece.part.mime.startsWith("image/");
    const written = isMade ? undefined : await encodeContentPart(piece.part, role === "assistant", source);
    if (written) {
      if (toObject(own)) yield* flush();
      beside = toObject(own) ?? beside;
      content.push({ ...written, ...extra });
      continue;
    }
    const item = isMedia(piece.part)
      ? await encodeImageItem(piece.part, extra, source)
      : encodeItem(piece, isOwn);
    if (!item) continue;
    yield* flush();
    yield item;
  }
  yield* flush();
}

function encodeItem({ part, extra }: MessagePiece, isOwn: boolean): WireObject | undefined {
  if (part.type === "tool-call") return encodeCallItem(part, extra);
  if (part.type === "raw" && part.format === OPENAI_RESPONSES_NAME) return toObject(part.value);
  return part.type === "reasoning" ? encodeReasoningItem(part, extra, isOwn) : undefined;
}

/** Builds a separate item, which is the only way to represent an image that the model generated. */
async function encodeImageItem(part: BlobPart, extra: WireObject, source: PartSource): Promise<WireObject> {
  const id = `ig_${part.digest.slice(0, 32)}`;
  return {
    type: "image_generation_call",
    id,
    status: "completed",
    ...extra,
    result: await source.base64(part),
  };
}

function encodeReasoningItem(
  { text, opaque }: ReasoningPart,
  extra: WireObject = {},
  isOwn: boolean,
): WireObject | undefined {
  const { summary, content, ...fields } = { ...toObject(opaque), ...extra };
  // Items of this API, also in Codex's files, have an id or hold the reasoning itself.
  const isItem = isOwn || typeof fields.id === "string" || Array.isArray(content);
  // An item without words and ciphertext says nothing, and the API refuses it.
  if ((toText(fields.encrypted_content) ?? "") === "" && (text.trim() === "" || !isItem)) return undefined;
  const plain = text === "" || content !== undefined ? [] : [{ type: "summary_text", text }];
  return { type: "reasoning", ...fields, summary: summary ?? plain, ...dropUndefined({ content }) };
}

/** An export has tools of other formats, whose names may need a change; a client's own call keeps its name. */
function encodeCallItem(part: ToolCallPart, extra: WireObject | undefined): WireObject {
  const isFunction = !CALL_FIELDS.has(toText(extra?.type) ?? "");
  return buildCallItem(isFunction ? { ...part, name: toAllowedName(part.name) } : part, extra);
}

/** The item of a call; `extra` are fields that an import found on it. */
export function buildCallItem({ callId, name, input }: ToolCallPart, extra: WireObject = {}): WireObject {
  const { arguments: written, type, ...rest } = extra;
  const field = CALL_FIELDS.get(toText(type) ?? "");
  if (field !== undefined)
    return { type, call_id: callId, ...(type === "custom_tool_call" && { name }), [field]: input, ...rest };
  const text = typeof written === "string" ? written : JSON.stringify(input);
  return { type: "function_call", call_id: callId, name, arguments: text, ...rest };
}

/** Encodes a tool result. */
export async function encodeOutputItem(
  part: ToolResultPart,
  extra: WireObject = {},
  source: PartSource,
): Promise<WireObject> {
  const pieces: WireObject[] = [];
  for (const piece of part.output) {
    const written = await encodeContentPart(piece, false, source);
    if (written) pieces.push(written);
  }
  const [first] = pieces;
  const isPlain = pieces.length === 0 || (pieces.length === 1 && first?.type === "input_text");
  const text = String(first?.text ?? "");
  const output = isPlain
    ? part.isError
      ? withErrorMark(text)
      : text
    : part.isError
      ? [ERROR_PIECE, ...pieces]
      : pieces;
  return { type: "function_call_output", ...extra, call_id: part.callId, output };
}

const ERROR_PIECE: WireObject = { type: "input_text", text: TOOL_ERROR };

async function encodeContentPart(
  part: Part,
  isAssistant: boolean,
  source: PartSource,
): Promise<WireObject | undefined> {
  const format = getResponsesFormat(isAssistant ? "assistant" : "user");
  if (part.type === "text") return format.text(part.text);
  if (part.type === "raw") return format.raw(part);
  // The API has a separate item for images that the model made. All other media go into the message.
  return isMedia(part) ? responsesOutputFormat.media(part, await source.base64(part)) : undefined;
}

/** Fields of a message that only this API has. */
export function getResponsesMeta(message: Message): WireObject {
  return toObject(message.meta?.[OPENAI_RESPONSES_NAME]) ?? {};
}
