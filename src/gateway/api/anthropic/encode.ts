import { contentOfBlocks } from "../../../formats/content/anthropic-blocks.ts";
import { objectOf } from "../../../formats/content/fields.ts";
import type { BlobPart, Message, Part, ToolResultPart } from "../../../index.ts";
import type { Base64Of, JsonObject, OwnMessage } from "../api.ts";
import { withoutMarks } from "../cache-marks.ts";
import { type BlockForm, contentOf, editedBlock, type OwnBlock, ownBlocks } from "../editing/blocks.ts";
import { type EditedPiece, editedPieces } from "../editing/edited-pieces.ts";
import { isUnedited } from "../editing/same-part.ts";
import { NAME } from "./decode.ts";

const form: BlockForm = {
  text: (text) => ({ type: "text", text }),
  media(part: BlobPart, data: string) {
    const source = { type: "base64", media_type: part.mime, data };
    if (part.mime.startsWith("image/")) return { type: "image", source };
    return { type: "document", source, ...(part.name !== undefined && { title: part.name }) };
  },
  raw: ({ format, value }) => (format === NAME ? objectOf(value) : undefined),
};

/** The element of an edited message or of a note; empty if nothing is left. */
export async function encode(
  message: Message,
  own: OwnMessage | undefined,
  base64Of: Base64Of,
): Promise<readonly JsonObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const pieces = blocksOf(element?.content);
  const blocks: unknown[] = [];
  for (const edited of editedPieces(message.parts, own?.original.parts ?? [], pieces)) {
    const block = await blockOf(edited, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  if (blocks.length === 0) return [];
  const isOrdered = areResultsFirst(pieces.map(({ block }) => block));
  const content = contentOf(element?.content, isOrdered ? resultsFirst(blocks) : blocks, false);
  return [{ ...element, role: roleOf(message, own), content }];
}

function blocksOf(content: unknown): readonly OwnBlock[] {
  return ownBlocks(content, contentOfBlocks(withoutMarks(content), NAME).parts, form);
}

async function blockOf(edited: EditedPiece<OwnBlock>, base64Of: Base64Of): Promise<unknown> {
  if (edited.type === "own") return edited.piece.block;
  const { part } = edited;
  const own = edited.type === "changed" ? objectOf(edited.piece.block) : undefined;
  if (part.type === "tool-call") {
    const isCall = own?.type === "tool_use";
    return isCall ? { ...own, input: part.input } : callBlock(part);
  }
  if (part.type === "tool-result") {
    const isResult = edited.type === "changed" && own?.type === "tool_result";
    if (isResult) return { ...own, content: await outputOf(part, edited.original, own.content, base64Of) };
    const { callId, isError } = part;
    const content = await outputOf(part, undefined, undefined, base64Of);
    return { type: "tool_result", tool_use_id: callId, content, ...(isError && { is_error: true }) };
  }
  return editedBlock(edited, form, base64Of);
}

function callBlock({ callId, name, input }: Extract<Part, { type: "tool-call" }>): JsonObject {
  return { type: "tool_use", id: callId, name, input };
}

/** The content of an edited tool result. */
async function outputOf(
  part: ToolResultPart,
  original: Part | undefined,
  content: unknown,
  base64Of: Base64Of,
): Promise<string | readonly unknown[]> {
  const before = original?.type === "tool-result" ? original.output : [];
  const blocks: unknown[] = [];
  for (const edited of editedPieces(part.output, before, blocksOf(content))) {
    const block = await editedBlock(edited, form, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  return contentOf(content, blocks, false);
}

/** The role of a message; notes are sent as the user's, as is tool output whose call is gone. */
function roleOf({ role }: Message, own: OwnMessage | undefined): unknown {
  if (own && role === own.original.role) return own.elements[0]?.role;
  return role === "assistant" ? "assistant" : "user";
}

/** The API requires results before text. */
function resultsFirst(blocks: readonly unknown[]): readonly unknown[] {
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function areResultsFirst(blocks: readonly unknown[]): boolean {
  const last = blocks.findLastIndex(isResult);
  return blocks.slice(0, last + 1).every(isResult);
}

function isResult(block: unknown): boolean {
  return objectOf(block)?.type === "tool_result";
}
