import type { Message } from "../../model/message.ts";
import type { ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { toAllowedName } from "../allowed-name.ts";
import { toObject } from "../fields.ts";
import type { MessagePiece } from "../message-pieces.ts";
import type { PartSource } from "../part-source.ts";
import type { MessageTurn } from "../request-turns.ts";
import { TOOL_ERROR, withErrorMark } from "../result-marks.ts";
import type { WireObject } from "../wire.ts";
import { encodeChatContent, markMedia } from "./chat-content-encode.ts";
import { OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { newChatCall } from "./openai-chat-calls.ts";

/** A message, and its media for a following user message. */
interface EncodedChatMessage {
  readonly message: WireObject | undefined;
  readonly media: readonly WireObject[];
}

/** Encodes a message of the user or the system; undefined if it has no content. */
export async function encodePlainMessage(
  { role, message, pieces }: MessageTurn,
  source: PartSource,
): Promise<WireObject | undefined> {
  const { role: ownRole, name } = getOwnMeta(message);
  const content = await encodeChatContent(pieces, source);
  if (content === undefined) return undefined;
  return {
    role: role === "system" && ownRole === "developer" ? "developer" : role,
    content,
    ...(typeof name === "string" && { name }),
  };
}

/** Encodes a message of the model; `owner` names it in the marks of its media. */
export async function encodeAssistantMessage(
  turn: MessageTurn,
  source: PartSource,
  owner: string,
): Promise<EncodedChatMessage> {
  const own = getOwnMeta(turn.message);
  const { pieces, media } = await markMedia(turn.pieces, owner, source);
  const calls = turn.pieces.flatMap(({ part, extra }) =>
    part.type === "tool-call" ? [encodeToolCall(part, extra)] : [],
  );
  const content = await encodeChatContent(pieces, source);
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
function buildReasoningFields(pieces: readonly MessagePiece[], field: unknown): WireObject {
  const part = pieces.map((piece) => piece.part).find(({ type }) => type === "reasoning");
  if (part?.type !== "reasoning") return {};
  const details = toObject(part.opaque)?.reasoning_details;
  const isNamed = field === "reasoning_content" || field === "reasoning";
  return {
    ...(isNamed && { [field]: part.text }),
    ...(details !== undefined && { reasoning_details: details }),
  };
}

/** An export has tools of other formats, whose names may need a change; a client's own call keeps its name. */
function encodeToolCall(part: ToolCallPart, extra: WireObject | undefined): WireObject {
  const name = extra?.type === "custom" ? part.name : toAllowedName(part.name);
  return newChatCall({ ...part, name }, extra);
}

/** Encodes a tool result. */
export async function encodeToolMessage(
  part: ToolResultPart,
  source: PartSource,
): Promise<EncodedChatMessage & { readonly message: WireObject }> {
  const output = part.output.map((piece) => ({ part: piece }));
  const { pieces, media } = await markMedia(output, part.callId, source);
  const written = (await encodeChatContent(pieces, source)) ?? "";
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

function markFailed(content: string | readonly WireObject[]): string | readonly WireObject[] {
  return typeof content === "string"
    ? withErrorMark(content)
    : [{ type: "text", text: TOOL_ERROR }, ...content];
}

function getOwnMeta(message: Message): WireObject {
  return toObject(message.meta?.[OPENAI_CHAT_NAME]) ?? {};
}
