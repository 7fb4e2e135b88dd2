import { objectOf } from "../../../formats/content/fields.ts";
import { contentOfChat } from "../../../formats/content/openai-chat-content.ts";
import { editedChatCall, newChatCall } from "../../../formats/writing/openai-chat-calls.ts";
import type { Message, Part, ToolResultPart } from "../../../index.ts";
import type { Base64Of, JsonObject, OwnMessage } from "../api.ts";
import { withoutMarks } from "../cache-marks.ts";
import { contentOf, editedBlock } from "../editing/blocks.ts";
import { type EditedPiece, editedPieces } from "../editing/edited-pieces.ts";
import { markedOutput } from "../editing/marked-output.ts";
import { isUnedited } from "../editing/same-part.ts";
import { plainForm, userForm } from "./blocks.ts";
import { type ChatPiece, piecesOf } from "./pieces.ts";

type Edited = EditedPiece<ChatPiece>;

/** Fields with content of their own. */
const OWN_FIELDS = ["refusal", "images", "audio"] as const;
const REASONING = ["reasoning_content", "reasoning", "reasoning_details"];

/** The element of an edited message or of a note; several if a note answers several calls. */
export async function encode(
  message: Message,
  own: OwnMessage | undefined,
  base64Of: Base64Of,
): Promise<readonly JsonObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const edited = editedPieces(message.parts, own?.original.parts ?? [], piecesOf(element));
  const isSameRole = own?.original.role === message.role;
  if (message.role === "assistant")
    return assistantMessage(edited, isSameRole ? element : undefined, base64Of);
  const results: JsonObject[] = [];
  const blocks: unknown[] = [];
  const form = message.role === "system" ? plainForm : userForm;
  for (const piece of edited) {
    const result = await resultMessage(piece, base64Of);
    if (result) results.push(result);
    else {
      const block = await editedBlock(piece, form, base64Of);
      if (block !== undefined) blocks.push(block);
    }
  }
  if (blocks.length === 0) return results;
  const isOwn = isSameRole && element !== undefined && message.role !== "tool";
  const role = message.role === "system" && own ? "system" : "user";
  const content = contentOf(isOwn ? element.content : undefined, blocks, true);
  return [...results, isOwn ? { ...element, content } : { role, content }];
}

async function assistantMessage(
  edited: readonly Edited[],
  element: JsonObject | undefined,
  base64Of: Base64Of,
): Promise<readonly JsonObject[]> {
  const blocks: unknown[] = [];
  const calls: unknown[] = [];
  const images: unknown[] = [];
  const kept = new Set<ChatPiece["field"]>();
  let legacy: JsonObject | undefined;
  for (const piece of edited) {
    const field = piece.type === "new" ? undefined : piece.piece.field;
    if (piece.type === "own" && field !== undefined) kept.add(field);
    const call = callOf(piece);
    if (call && field === "function_call") legacy = call;
    else if (call) calls.push(call);
    else if (piece.type === "own" && field === "images") images.push(piece.piece.block);
    else if (piece.type !== "own" || field === "content") {
      const block = await editedBlock(piece, plainForm, base64Of);
      if (block !== undefined) blocks.push(block);
    }
  }
  const isSilent = !OWN_FIELDS.some((field) => kept.has(field));
  if (blocks.length === 0 && calls.length === 0 && !legacy && isSilent) return [];
  const gone = [
    ...(kept.has("reasoning") ? [] : REASONING),
    ...OWN_FIELDS.filter((field) => !kept.has(field)),
    ...(calls.length > 0 ? [] : ["tool_calls"]),
    ...(legacy ? [] : ["function_call"]),
  ];
  const rest = Object.entries(element ?? { role: "assistant" }).filter(
    // A field with the value null is not a piece and stays.
    ([field, value]) => value === null || !gone.includes(field),
  );
  const content = blocks.length > 0 ? contentOf(element?.content, blocks, true) : silence(element?.content);
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
function silence(content: unknown): unknown {
  return content === "" || content === undefined ? content : null;
}

/** The entry of `tool_calls` of a piece; undefined if it is not a call. */
function callOf(edited: Edited): JsonObject | undefined {
  if (edited.type === "own") {
    const isCall = edited.piece.field === "tool_calls" || edited.piece.field === "function_call";
    return isCall ? objectOf(edited.piece.block) : undefined;
  }
  const { part } = edited;
  if (part.type !== "tool-call") return undefined;
  const own = edited.type === "changed" ? objectOf(edited.piece.block) : undefined;
  return own ? editedChatCall(own, part) : newChatCall(part);
}

/** The tool message of a piece; undefined if it is not a result. */
async function resultMessage(edited: Edited, base64Of: Base64Of): Promise<JsonObject | undefined> {
  if (edited.type === "own")
    return edited.piece.field === "result" ? objectOf(edited.piece.block) : undefined;
  const { part } = edited;
  if (part.type !== "tool-result") return undefined;
  const element = edited.type === "changed" ? objectOf(edited.piece.block) : undefined;
  const original = edited.type === "changed" ? edited.original : undefined;
  const content = await outputOf(part, original, element, base64Of);
  return element ? { ...element, content } : { role: "tool", tool_call_id: part.callId, content };
}

function outputOf(
  part: ToolResultPart,
  original: Part | undefined,
  element: JsonObject | undefined,
  base64Of: Base64Of,
): Promise<string | readonly unknown[]> {
  const own = {
    content: element?.content,
    parts: (content: unknown) => contentOfChat(withoutMarks(content)).parts,
  };
  return markedOutput(part, original, own, plainForm, base64Of);
}
