import type { Message, ToolResultPart } from "../../kernel/index.ts";
import {
  encodeContentPieces,
  encodeModelPart,
  encodeRawUiPart,
  encodeReasoningPart,
  encodeResultPart,
  getPlainText,
  parseOptionalJson,
  toUiExtra,
} from "../../wire/ai-sdk/ai-sdk-part-encode.ts";
import { toAllowedName } from "../../wire/allowed-name.ts";
import { toObject, toText } from "../../wire/fields.ts";
import { isMedia, type MessagePiece } from "../../wire/message-pieces.ts";
import { type MessageTurn, type RequestTurn, readRequestTurns } from "../../wire/request-turns.ts";
import { NO_RESULT } from "../../wire/result-marks.ts";
import type { ExportedSession, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { readLineMessages } from "../writing/read-line-messages.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";

const NAME = "ai-sdk";

/**
 * Writes the active line as ModelMessages of Vercel's AI SDK. Signatures go into the options of their provider; those
 * of an unknown provider under "longhaul". Raw parts of other formats are left out.
 */
export const aiSdkWriter: Writer = {
  name: "ai-sdk",
  title: "AI SDK ModelMessages",
  isFolder: false,
  write: (session) => writeJsonArray("messages.json", encodeMessages(session)),
};

async function* encodeMessages(session: ExportedSession): AsyncGenerator<JsonObject> {
  for await (const turn of readRequestTurns(readLineMessages(session), session, NAME))
    yield* encodeTurn(turn, session);
}

async function* encodeTurn(turn: RequestTurn, session: ExportedSession): AsyncGenerator<JsonObject> {
  switch (turn.role) {
    case "missing": {
      const content = turn.calls.map(({ callId, name }) => ({
        type: "tool-result",
        toolCallId: callId,
        toolName: name,
        output: { type: "error-text", value: NO_RESULT },
      }));
      return yield { role: "tool", content };
    }
    case "tool": {
      const content: JsonObject[] = [];
      for (const answer of turn.pieces) content.push(await encodeResultPart(answer, session));
      return yield { role: "tool", content, ...getOwnOptions(turn.message) };
    }
    case "system":
      // A system message's content is a string, so each part becomes a message.
      for (const { part, extra } of turn.pieces)
        if (part.type === "text")
          yield { role: "system", content: part.text, ...extra, ...getOwnOptions(turn.message) };
      return;
    default: {
      const content = await encodeContent(turn, session);
      if (content !== undefined) yield { role: turn.role, content, ...getOwnOptions(turn.message) };
    }
  }
}

/** Builds content: a string if it suffices, else parts. */
async function encodeContent(
  turn: MessageTurn,
  session: ExportedSession,
): Promise<string | JsonObject[] | undefined> {
  const content: JsonObject[] = [];
  for (const piece of turn.pieces) {
    const part = await encodeModelPart(piece, session);
    if (part) content.push(part);
  }
  const [first] = content;
  if (!first) return undefined;
  const isPlain = content.length === 1 && first.type === "text" && Object.keys(first).length === 2;
  return isPlain ? String(first.text) : content;
}

/** Returns the message's own options, as imported. */
function getOwnOptions(message: Message): JsonObject {
  const options = toObject(message.meta?.[NAME])?.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}

/**
 * Writes the active line as UIMessages of Vercel's AI SDK: consecutive model messages become one message of several
 * steps, with results in the parts of their calls. Raw parts of other formats are left out.
 */
export const aiSdkUiWriter: Writer = {
  name: "ai-sdk-ui",
  title: "AI SDK UIMessages",
  isFolder: false,
  write: (session) => writeJsonArray("messages.json", encodeUiMessages(session)),
};

/** The current message: its parts, and the indexes of open calls among them. */
interface UiMessageDraft {
  readonly id: string;
  readonly metadata: JsonObject;
  readonly parts: JsonObject[];
  readonly calls: Map<string, number>;
}

async function* encodeUiMessages(session: ExportedSession): AsyncGenerator<JsonObject> {
  let draft: UiMessageDraft | undefined;
  let count = 0;
  const flush = function* (): Generator<JsonObject> {
    if (draft && draft.parts.length > 0)
      yield { id: draft.id, role: "assistant", ...draft.metadata, parts: draft.parts };
    draft = undefined;
  };
  for await (const turn of readRequestTurns(readLineMessages(session), session, NAME)) {
    // UIMessages can represent a call without a result.
    if (turn.role === "missing") continue;
    if (turn.role === "tool") {
      for (const piece of turn.pieces) if (draft) await addAnswer(draft, piece, session);
      continue;
    }
    count++;
    const own = toObject(turn.message.meta?.[NAME]) ?? {};
    if (turn.role !== "assistant" || own.id !== undefined) yield* flush();
    if (turn.role === "assistant") {
      draft ??= { ...buildHead(turn.message, count), parts: [], calls: new Map() };
      await addStep(draft, turn, session);
    } else {
      const parts = await encodeParts(turn.pieces, session);
      if (parts.length === 0) continue;
      const { id, metadata } = buildHead(turn.message, count);
      yield { id, role: turn.role, ...metadata, parts };
    }
  }
  yield* flush();
}

function buildHead(message: Message, count: number): Pick<UiMessageDraft, "id" | "metadata"> {
  const own = toObject(message.meta?.[NAME]) ?? {};
  const metadata = own.metadata === undefined ? {} : { metadata: own.metadata };
  return { id: toText(own.id) ?? `message-${count}`, metadata };
}

async function addStep(draft: UiMessageDraft, turn: MessageTurn, session: ExportedSession): Promise<void> {
  draft.parts.push({ type: "step-start" });
  for (const piece of turn.pieces) {
    const { part } = piece;
    if (part.type === "tool-call") draft.calls.set(part.callId, draft.parts.length);
    const written = await encodeUiPart(piece, session);
    if (written) draft.parts.push(written);
  }
}

async function encodeParts(
  pieces: readonly MessagePiece[],
  session: ExportedSession,
): Promise<readonly JsonObject[]> {
  const parts: JsonObject[] = [];
  for (const piece of pieces) {
    const part = await encodeUiPart(piece, session);
    if (part) parts.push(part);
  }
  return parts;
}

async function encodeUiPart(piece: MessagePiece, session: ExportedSession): Promise<JsonObject | undefined> {
  const { part } = piece;
  const extra = toUiExtra(
    piece.extra,
    part.type === "tool-call" ? "callProviderMetadata" : "providerMetadata",
  );
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...extra };
    case "reasoning":
      return encodeReasoningPart(part, "providerMetadata", extra);
    case "tool-call": {
      const { dynamic, ...rest } = extra;
      const isDynamic = dynamic === true || toAllowedName(part.name) !== part.name;
      const kind = isDynamic ? { type: "dynamic-tool", toolName: part.name } : { type: `tool-${part.name}` };
      return { ...kind, toolCallId: part.callId, state: "input-available", input: part.input, ...rest };
    }
    case "blob": {
      if (!isMedia(part)) return undefined;
      const filename = part.name === undefined ? {} : { filename: part.name };
      const url = `data:${part.mime};base64,${await session.base64(part)}`;
      return { type: "file", mediaType: part.mime, ...filename, url, ...extra };
    }
    case "raw":
      return encodeRawUiPart(part);
    case "tool-result":
      return undefined;
  }
}

/** Puts a result into the part of its call. */
async function addAnswer(
  draft: UiMessageDraft,
  piece: MessagePiece<ToolResultPart>,
  session: ExportedSession,
): Promise<void> {
  const at = draft.calls.get(piece.part.callId);
  const call = at === undefined ? undefined : draft.parts[at];
  if (at === undefined || !call) return;
  draft.calls.delete(piece.part.callId);
  if (call.state === "output-denied") return;
  draft.parts[at] = { ...call, ...(await encodeAnswer(piece, session)) };
}

async function encodeAnswer(
  { part, extra }: MessagePiece<ToolResultPart>,
  session: ExportedSession,
): Promise<JsonObject> {
  const text = getPlainText(part);
  if (part.isError && text !== undefined) return { state: "output-error", errorText: text };
  const isJson = toObject(extra?.output)?.type === "json";
  const json = isJson ? parseOptionalJson(text) : undefined;
  const pieces = {
    type: "content",
    value: await encodeContentPieces(part, session),
    ...(part.isError && { isError: true }),
  };
  return { state: "output-available", output: json ? json.value : (text ?? pieces) };
}
