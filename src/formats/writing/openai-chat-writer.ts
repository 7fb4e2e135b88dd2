import type { Message, ToolCallPart, ToolResultPart } from "../../index.ts";
import { encodeChatContent, markMedia } from "../../wire/openai-chat/chat-content-encode.ts";
import { NO_RESULT, TOOL_ERROR, withErrorMark } from "../../wire/result-marks.ts";
import { toArray, toObject } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type MessagePiece, type MessageTurn, readRequestTurns, toAllowedName } from "./request-turns.ts";
import { writeJsonArray } from "./write-json-array.ts";
import type { ExportedSession, Writer } from "./writer.ts";

const NAME = "openai-chat";
const FILE = "conversation.json";

/**
 * Writes the active line as a request of the Chat Completions API: `{ messages }`. Media in tool results follow in a
 * separate user message. A failed tool's output begins with "[tool error]". Reasoning from other formats, for which
 * OpenAI has no field, and raw parts of other formats are left out.
 */
export const openaiChatWriter: Writer = {
  name: NAME,
  title: "OpenAI Chat Completions",
  isFolder: false,
  write: (session) => writeJsonArray(FILE, encodeMessages(session), '{"messages":', "}"),
};

/** A message, and its media for a following user message. */
interface EncodedMessage {
  readonly message: JsonObject | undefined;
  readonly media: readonly JsonObject[];
}

async function* encodeMessages(session: ExportedSession): AsyncGenerator<JsonObject> {
  let media: JsonObject[] = [];
  let spoken = 0;
  /** An assistant message with calls; the next one's calls join it if nothing comes between. */
  let calling: JsonObject | undefined;
  for await (const turn of readRequestTurns(session, NAME)) {
    if (turn.role !== "assistant" && calling) {
      yield calling;
      calling = undefined;
    }
    if (turn.role === "missing") {
      for (const { callId } of turn.calls) yield { role: "tool", tool_call_id: callId, content: NO_RESULT };
      continue;
    }
    if (turn.role === "tool") {
      for (const { part } of turn.pieces) {
        const written = await encodeToolMessage(part, session);
        yield written.message;
        for (const one of written.media) media.push(one);
      }
      continue;
    }
    // Other messages may follow only after all results.
    if (media.length > 0 && !calling) {
      yield { role: "user", content: media };
      media = [];
    }
    if (turn.role !== "assistant") {
      const message = await encodePlainMessage(turn, session);
      if (message) yield message;
      continue;
    }
    const written = await encodeAssistantMessage(turn, session, `message ${++spoken}`);
    for (const one of written.media) media.push(one);
    const message =
      calling && written.message ? joinMessages(calling, written.message) : (written.message ?? calling);
    calling = message?.tool_calls ? message : undefined;
    if (message && !calling) yield message;
  }
  if (calling) yield calling;
  if (media.length > 0) yield { role: "user", content: media };
}

/** Joins two assistant messages, because the results of all calls must follow. */
function joinMessages(first: JsonObject, second: JsonObject): JsonObject {
  const contents = [first.content, second.content].flatMap((content) =>
    typeof content === "string" ? [{ type: "text", text: content }] : toArray(content),
  );
  const calls = [...toArray(first.tool_calls), ...toArray(second.tool_calls)];
  return { ...first, ...second, content: contents.length > 0 ? contents : null, tool_calls: calls };
}

async function encodePlainMessage(
  { role, message, pieces }: MessageTurn,
  session: ExportedSession,
): Promise<JsonObject | undefined> {
  const { role: ownRole, name } = getOwnMeta(message);
  const content = await encodeChatContent(pieces, session);
  if (content === undefined) return undefined;
  return {
    role: role === "system" && ownRole === "developer" ? "developer" : role,
    content,
    ...(typeof name === "string" && { name }),
  };
}

async function encodeAssistantMessage(
  turn: MessageTurn,
  session: ExportedSession,
  owner: string,
): Promise<EncodedMessage> {
  const own = getOwnMeta(turn.message);
  const { pieces, media } = await markMedia(turn.pieces, owner, session);
  const calls = turn.pieces.flatMap(({ part, extra }) =>
    part.type === "tool-call" ? [encodeToolCall(part, extra)] : [],
  );
  const content = await encodeChatContent(pieces, session);
  if (content === undefined && calls.length === 0) return { message: undefined, media };
  const message = {
    role: "assistant",
    content: content ?? null,
    ...(typeof own.name === "string" && { name: own.name }),
    ...buildReasoningFields(turn.pieces, own.reasoning),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { message, media };
}

/** Returns reasoning in the field that it was imported from. */
function buildReasoningFields(pieces: readonly MessagePiece[], field: unknown): JsonObject {
  const part = pieces.map((piece) => piece.part).find(({ type }) => type === "reasoning");
  if (part?.type !== "reasoning") return {};
  const details = toObject(part.opaque)?.reasoning_details;
  const isNamed = field === "reasoning_content" || field === "reasoning";
  return {
    ...(isNamed && { [field]: part.text }),
    ...(details !== undefined && { reasoning_details: details }),
  };
}

function encodeToolCall({ callId, name, input }: ToolCallPart, extra: JsonObject = {}): JsonObject {
  const { arguments: written, ...rest } = extra;
  if (rest.type === "custom") return { id: callId, ...rest, custom: { name, input } };
  const text = typeof written === "string" ? written : JSON.stringify(input);
  return { id: callId, type: "function", ...rest, function: { name: toAllowedName(name), arguments: text } };
}

async function encodeToolMessage(
  part: ToolResultPart,
  session: ExportedSession,
): Promise<EncodedMessage & { readonly message: JsonObject }> {
  const output = part.output.map((piece) => ({ part: piece }));
  const { pieces, media } = await markMedia(output, part.callId, session);
  const written = (await encodeChatContent(pieces, session)) ?? "";
  // The importer recognizes a mark only in a content list.
  const content =
    typeof written === "string" && media.length > 0 ? [{ type: "text", text: written }] : written;
  const name = part.name === undefined ? {} : { name: toAllowedName(part.name) };
  const message = {
    role: "tool",
    tool_call_id: part.callId,
    ...name,
    content: part.isError ? markFailed(content) : content,
  };
  return { message, media };
}

function markFailed(content: string | readonly JsonObject[]): string | readonly JsonObject[] {
  return typeof content === "string"
    ? withErrorMark(content)
    : [{ type: "text", text: TOOL_ERROR }, ...content];
}

function getOwnMeta(message: Message): JsonObject {
  return toObject(message.meta?.[NAME]) ?? {};
}
