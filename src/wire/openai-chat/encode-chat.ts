import type { Message } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import { removeCacheMarks } from "../cache-marks.ts";
import { buildContent, encodeEditedBlock } from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { encodeMarkedOutput } from "../editing/encode-marked-output.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toObject } from "../fields.ts";
import type { ClientMessage, LoadBase64, WireObject } from "../wire.ts";
import { chatPlainFormat, chatUserFormat } from "./chat-block-formats.ts";
import { decodeChatContent } from "./chat-content-decode.ts";
import { type ChatPiece, splitChatMessage } from "./chat-pieces.ts";
import { editedChatCall, newChatCall } from "./openai-chat-calls.ts";

type EditedChatPiece = EditedPiece<ChatPiece>;

/** Fields with content of their own. */
const OWN_FIELDS = ["refusal", "images", "audio"] as const;
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"];

/** The element of an edited message or of a note; several if a note answers several calls. */
export async function encodeChat(
  message: Message,
  own: ClientMessage | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const edited = applyPieceEdits(message.parts, own?.original.parts ?? [], splitChatMessage(element));
  const isSameRole = own?.original.role === message.role;
  if (message.role === "assistant")
    return encodeAssistant(edited, isSameRole ? element : undefined, base64Of);
  const results: WireObject[] = [];
  const blocks: unknown[] = [];
  const form = message.role === "system" ? chatPlainFormat : chatUserFormat;
  for (const piece of edited) {
    const result = await encodeResult(piece, base64Of);
    if (result) results.push(result);
    else {
      const block = await encodeEditedBlock(piece, form, base64Of);
      if (block !== undefined) blocks.push(block);
    }
  }
  if (blocks.length === 0) return results;
  const isOwn = isSameRole && element !== undefined && message.role !== "tool";
  const role = message.role === "system" && own ? "system" : "user";
  const content = buildContent(isOwn ? element.content : undefined, blocks, true);
  return [...results, isOwn ? { ...element, content } : { role, content }];
}

async function encodeAssistant(
  edited: readonly EditedChatPiece[],
  element: WireObject | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  const blocks: unknown[] = [];
  const calls: unknown[] = [];
  const images: unknown[] = [];
  const kept = new Set<ChatPiece["field"]>();
  let legacy: WireObject | undefined;
  for (const piece of edited) {
    const field = piece.type === "new" ? undefined : piece.piece.field;
    if (piece.type === "own" && field !== undefined) kept.add(field);
    const call = encodeCall(piece);
    if (call && field === "function_call") legacy = call;
    else if (call) calls.push(call);
    else if (piece.type === "own" && field === "images") images.push(piece.piece.block);
    else if (piece.type !== "own" || field === "content") {
      const block = await encodeEditedBlock(piece, chatPlainFormat, base64Of);
      if (block !== undefined) blocks.push(block);
    }
  }
  const isSilent = !OWN_FIELDS.some((field) => kept.has(field));
  if (blocks.length === 0 && calls.length === 0 && !legacy && isSilent) return [];
  const gone = [
    ...(kept.has("reasoning") ? [] : REASONING_FIELDS),
    ...OWN_FIELDS.filter((field) => !kept.has(field)),
    ...(calls.length > 0 ? [] : ["tool_calls"]),
    ...(legacy ? [] : ["function_call"]),
  ];
  const rest = Object.entries(element ?? { role: "assistant" }).filter(
    // A field with the value null is not a piece and stays.
    ([field, value]) => value === null || !gone.includes(field),
  );
  const content =
    blocks.length > 0 ? buildContent(element?.content, blocks, true) : toEmptyContent(element?.content);
  return [
    {
      ...Object.fromEntries(rest),
      ...(content !== undefined && { content }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(legacy && { function_call: legacy }),
      ...(images.length > 0 && { images }),
    },
  ];
}

/** The client's own form of empty content. */
function toEmptyContent(content: unknown): unknown {
  return content === "" || content === undefined ? content : null;
}

/** The entry of `tool_calls` of a piece; undefined if it is not a call. */
function encodeCall(edited: EditedChatPiece): WireObject | undefined {
  if (edited.type === "own") {
    const isCall = edited.piece.field === "tool_calls" || edited.piece.field === "function_call";
    return isCall ? toObject(edited.piece.block) : undefined;
  }
  const { part } = edited;
  if (part.type !== "tool-call") return undefined;
  const own = edited.type === "changed" ? toObject(edited.piece.block) : undefined;
  return own ? editedChatCall(own, part) : newChatCall(part);
}

/** The tool message of a piece; undefined if it is not a result. */
async function encodeResult(edited: EditedChatPiece, base64Of: LoadBase64): Promise<WireObject | undefined> {
  if (edited.type === "own")
    return edited.piece.field === "result" ? toObject(edited.piece.block) : undefined;
  const { part } = edited;
  if (part.type !== "tool-result") return undefined;
  const element = edited.type === "changed" ? toObject(edited.piece.block) : undefined;
  const original = edited.type === "changed" ? edited.original : undefined;
  const content = await encodeOutput(part, original, element, base64Of);
  return element ? { ...element, content } : { role: "tool", tool_call_id: part.callId, content };
}

function encodeOutput(
  part: ToolResultPart,
  original: Part | undefined,
  element: WireObject | undefined,
  base64Of: LoadBase64,
): Promise<string | readonly unknown[]> {
  const own = {
    content: element?.content,
    parts: (content: unknown) => decodeChatContent(removeCacheMarks(content)).parts,
  };
  return encodeMarkedOutput(part, original, own, chatPlainFormat, base64Of);
}
