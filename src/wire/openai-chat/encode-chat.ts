import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Message } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import { removeCacheMarks } from "../block-content.ts";
import { buildContent, type ClientBlock, encodeEditedBlock } from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { encodeMarkedOutput } from "../editing/encode-marked-output.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toArray, toObject } from "../fields.ts";
import type { ClientMessage, LoadBase64, WireObject } from "../wire.ts";
import { chatPlainFormat, chatUserFormat } from "./chat-block-formats.ts";
import { decodeChatContent } from "./chat-content-decode.ts";
import { decodeChatElement, OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { editedChatCall, newChatCall } from "./openai-chat-calls.ts";
import { decodeAudio } from "./openai-chat-media-fields.ts";
import { buildReasoningFields } from "./openai-chat-message.ts";

type EditedChatPiece = EditedPiece<ChatPiece>;

/** Fields with content of their own. */
const OWN_FIELDS = ["refusal", "images", "audio"] as const;
/** Providers that read this field refuse a reply without it, and accept it empty. */
const NEEDED_FIELD = "reasoning_content";
const REASONING_FIELDS = [NEEDED_FIELD, "reasoning", "reasoning_details"];

/** A piece of a message, and the field that contains it. */
interface ChatPiece extends ClientBlock {
  readonly field:
    | "reasoning"
    | "content"
    | "refusal"
    | "tool_calls"
    | "function_call"
    | "images"
    | "audio"
    | "result";
}

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
    return encodeAssistant(edited, isSameRole ? element : undefined, base64Of, own ? {} : getLogged(message));
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

/** The reasoning of a logged reply that the client does not repeat. */
function getLogged({ parts, meta }: Message): WireObject {
  return buildReasoningFields(parts, toObject(meta?.[OPENAI_CHAT_NAME])?.reasoning);
}

/** The element of a reply; `logged` are fields of a reply that has no element of the client. */
async function encodeAssistant(
  edited: readonly EditedChatPiece[],
  element: WireObject | undefined,
  base64Of: LoadBase64,
  logged: WireObject,
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
  const rest = Object.entries(element ?? { role: "assistant" }).flatMap(([field, value]) => {
    // A field with the value null is not a piece and stays.
    if (value === null || !gone.includes(field)) return [[field, value]];
    return field === NEEDED_FIELD ? [[field, ""]] : [];
  });
  const content =
    blocks.length > 0 ? buildContent(element?.content, blocks, true) : toEmptyContent(element?.content);
  return [
    {
      ...Object.fromEntries(rest),
      ...logged,
      ...dropUndefined({ content }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...dropUndefined({ function_call: legacy }),
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

/** The pieces of a message in the order of its parts. */
function splitChatMessage(element: WireObject | undefined): readonly ChatPiece[] {
  if (!element) return [];
  const { parts = [] } = decodeChatElement(element);
  const [only] = parts;
  if (only?.type === "tool-result") return [{ part: only, block: element, field: "result" }];
  const calls = toArray(element.tool_calls);
  const legacy = toObject(element.function_call);
  const isOfModel = element.role === "assistant";
  const behind: Omit<ChatPiece, "part">[] = [
    ...(typeof element.refusal === "string" ? [{ block: element.refusal, field: "refusal" as const }] : []),
    ...calls.map((block) => ({ block, field: "tool_calls" as const })),
    ...(legacy ? [{ block: legacy, field: "function_call" as const }] : []),
    ...(isOfModel ? toArray(element.images) : []).map((block) => ({ block, field: "images" as const })),
    ...decodeAudio(element).map(() => ({ block: element.audio, field: "audio" as const })),
  ];
  const content = getContentBlocks(element, calls.length > 0 || legacy !== undefined);
  const hasReasoning = parts.length > content.length + behind.length;
  const before: Omit<ChatPiece, "part">[] = [
    ...(hasReasoning ? [{ block: undefined, field: "reasoning" as const }] : []),
    ...content.map((block) => ({ block, field: "content" as const })),
  ];
  const places = [...before, ...behind];
  return parts.flatMap((part, index) => {
    const place = places[index];
    return place ? [{ part, ...place }] : [];
  });
}

function getContentBlocks({ content }: WireObject, isCalling: boolean): readonly unknown[] {
  if (typeof content !== "string") return toArray(content);
  return isCalling && content === "" ? [] : [{ type: "text", text: content }];
}
