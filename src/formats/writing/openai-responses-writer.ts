import type { BlobPart, Message, Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../../index.ts";
import { isMessageContent } from "../../wire/openai-responses/openai-responses-content.ts";
import { CALL_FIELDS } from "../../wire/openai-responses/openai-responses-items.ts";
import { NO_RESULT, TOOL_ERROR, withErrorMark } from "../../wire/result-marks.ts";
import { toObject, toText } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import {
  isMedia,
  type MessagePiece,
  type MessageTurn,
  type RequestTurn,
  readRequestTurns,
  restorePieces,
  toAllowedName,
} from "./request-turns.ts";
import { writeJsonArray } from "./write-json-array.ts";
import type { ExportedSession, Writer } from "./writer.ts";

/** The functions that load media and large parts. */
type PartReader = Pick<ExportedSession, "base64" | "restore">;

const NAME = "openai-responses";
const FILE = "conversation.json";

/**
 * Writes the active line as a request of the Responses API: `{ instructions?, input }`. A failed tool's output begins
 * with "[tool error]". Empty reasoning, reasoning of other formats without OpenAI's ciphertext, and raw parts of other
 * formats are left out.
 */
export const openaiResponsesWriter: Writer = {
  name: NAME,
  title: "OpenAI Responses",
  isFolder: false,
  async *write(session) {
    const turns = readRequestTurns(session, NAME);
    const first = await turns.next();
    const instructions = first.done ? undefined : findInstructions(first.value);
    const before = `{${instructions === undefined ? "" : `"instructions":${JSON.stringify(instructions)},`}"input":`;
    const rest = async function* (): AsyncGenerator<JsonObject> {
      if (!first.done && instructions === undefined) yield* encodeTurn(first.value, session);
      for await (const turn of turns) yield* encodeTurn(turn, session);
    };
    yield* writeJsonArray(FILE, rest(), before, "}");
  },
};

/** Converts one message of the log to items. */
export async function encodeResponsesItems(
  message: Message,
  session: PartReader,
): Promise<readonly JsonObject[]> {
  const pieces = await restorePieces(message, session, NAME);
  const items: JsonObject[] = [];
  for (const { part, extra } of pieces)
    if (part.type === "tool-result") items.push(await encodeOutputItem(part, extra, session));
  const said = pieces.filter(({ part }) => part.type !== "tool-result");
  const role = message.role === "tool" ? "user" : message.role;
  for await (const item of encodeMessageItems({ role, message, pieces: said }, session)) items.push(item);
  return items;
}

function findInstructions(turn: RequestTurn): string | undefined {
  if (turn.role !== "system" || getOwnMeta(turn.message).field !== "instructions") return undefined;
  const [only] = turn.pieces;
  return turn.pieces.length === 1 && only?.part.type === "text" ? only.part.text : undefined;
}

async function* encodeTurn(turn: RequestTurn, session: PartReader): AsyncGenerator<JsonObject> {
  if (turn.role === "missing") {
    for (const { callId } of turn.calls)
      yield { type: "function_call_output", call_id: callId, output: NO_RESULT };
  } else if (turn.role === "tool") {
    for (const { part, extra } of turn.pieces) yield await encodeOutputItem(part, extra, session);
  } else yield* encodeMessageItems(turn, session);
}

/** Yields a message per stretch of content, and an item for every other part, in order. */
async function* encodeMessageItems(turn: MessageTurn, session: PartReader): AsyncGenerator<JsonObject> {
  const { role, message, pieces } = turn;
  const speaker = role === "system" && getOwnMeta(message).role === "developer" ? "developer" : role;
  const isOwn = message.meta?.[NAME] !== undefined;
  let content: JsonObject[] = [];
  let beside: JsonObject = {};
  const flush = function* (): Generator<JsonObject> {
    if (content.length > 0) yield { type: "message", ...beside, role: speaker, content };
    content = [];
    beside = {};
  };
  for (const piece of pieces) {
    const { item: own, ...extra } = piece.extra ?? {};
    const isMade = role === "assistant" && isMedia(piece.part) && piece.part.mime.startsWith("image/");
    const written = isMade ? undefined : await encodeContentPart(piece.part, role === "assistant", session);
    if (written) {
      if (toObject(own)) yield* flush();
      beside = toObject(own) ?? beside;
      content.push({ ...written, ...extra });
      continue;
    }
    const item = isMedia(piece.part)
      ? await encodeImageItem(piece.part, extra, session)
      : encodeItem(piece, isOwn);
    if (!item) continue;
    yield* flush();
    yield item;
  }
  yield* flush();
}

function encodeItem({ part, extra }: MessagePiece, isOwn: boolean): JsonObject | undefined {
  if (part.type === "tool-call") return encodeCallItem(part, extra);
  if (part.type === "raw" && part.format === NAME) return toObject(part.value);
  return part.type === "reasoning" ? encodeReasoningItem(part, extra, isOwn) : undefined;
}

/** Builds a separate item, which is the only way to represent an image that the model generated. */
async function encodeImageItem(part: BlobPart, extra: JsonObject, session: PartReader): Promise<JsonObject> {
  const id = `ig_${part.digest.slice(0, 32)}`;
  return {
    type: "image_generation_call",
    id,
    status: "completed",
    ...extra,
    result: await session.base64(part),
  };
}

function encodeReasoningItem(
  { text, opaque }: ReasoningPart,
  extra: JsonObject = {},
  isOwn: boolean,
): JsonObject | undefined {
  const { summary, content, ...fields } = { ...toObject(opaque), ...extra };
  // Items of this API, also in Codex's files, have an id or hold the reasoning itself.
  const isItem = isOwn || typeof fields.id === "string" || Array.isArray(content);
  if (typeof fields.encrypted_content !== "string" && (text === "" || !isItem)) return undefined;
  const plain = text === "" || content !== undefined ? [] : [{ type: "summary_text", text }];
  return {
    type: "reasoning",
    ...fields,
    summary: summary ?? plain,
    ...(content !== undefined && { content }),
  };
}

function encodeCallItem({ callId, name, input }: ToolCallPart, extra: JsonObject = {}): JsonObject {
  const { arguments: written, type, ...rest } = extra;
  const field = CALL_FIELDS.get(toText(type) ?? "");
  if (field !== undefined)
    return { type, call_id: callId, ...(type === "custom_tool_call" && { name }), [field]: input, ...rest };
  const text = typeof written === "string" ? written : JSON.stringify(input);
  return { type: "function_call", call_id: callId, name: toAllowedName(name), arguments: text, ...rest };
}

async function encodeOutputItem(
  part: ToolResultPart,
  extra: JsonObject = {},
  session: PartReader,
): Promise<JsonObject> {
  const pieces: JsonObject[] = [];
  for (const piece of part.output) {
    const written = await encodeContentPart(piece, false, session);
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

const ERROR_PIECE: JsonObject = { type: "input_text", text: TOOL_ERROR };

async function encodeContentPart(
  part: Part,
  isAssistant: boolean,
  session: PartReader,
): Promise<JsonObject | undefined> {
  if (part.type === "text") return { type: isAssistant ? "output_text" : "input_text", text: part.text };
  if (part.type === "raw") {
    const value = part.format === NAME ? toObject(part.value) : undefined;
    return value && isMessageContent(value) ? value : undefined;
  }
  return isMedia(part) ? encodeMediaPart(part, session) : undefined;
}

async function encodeMediaPart(part: BlobPart, session: PartReader): Promise<JsonObject> {
  const url = `data:${part.mime};base64,${await session.base64(part)}`;
  if (part.mime.startsWith("image/")) return { type: "input_image", image_url: url };
  return { type: "input_file", ...(part.name !== undefined && { filename: part.name }), file_data: url };
}

function getOwnMeta(message: Message): JsonObject {
  return toObject(message.meta?.[NAME]) ?? {};
}
