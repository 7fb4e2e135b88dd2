import type { Message } from "../../model/message.ts";
import type { Part, ToolResultPart } from "../../model/part.ts";
import { removeCacheMarks } from "../cache-marks.ts";
import {
  type BlockFormat,
  buildContent,
  type ClientBlock,
  encodeEditedBlock,
  pairClientBlocks,
} from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toObject } from "../fields.ts";
import type { ClientMessage, LoadBase64, WireObject } from "../wire.ts";
import { decodeAnthropicBlocks } from "./anthropic-block-decode.ts";
import { buildCallBlock, buildMediaBlock } from "./anthropic-block-encode.ts";
import { ANTHROPIC_NAME } from "./decode-anthropic.ts";

const blockFormat: BlockFormat = {
  text: (text) => ({ type: "text", text }),
  media: buildMediaBlock,
  // A client's request has blocks of this API only; an export also takes those of agents that store such blocks.
  raw: ({ format, value }) => (format === ANTHROPIC_NAME ? toObject(value) : undefined),
};

/** The element of an edited message or of a note; empty if nothing is left. */
export async function encodeAnthropic(
  message: Message,
  own: ClientMessage | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const element = own?.elements[0];
  const pieces = decodeBlocks(element?.content);
  const blocks: unknown[] = [];
  for (const edited of applyPieceEdits(message.parts, own?.original.parts ?? [], pieces)) {
    const block = await encodeBlock(edited, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  if (blocks.length === 0) return [];
  const isOrdered = areResultsFirst(pieces.map(({ block }) => block));
  const content = buildContent(element?.content, isOrdered ? sortResultsFirst(blocks) : blocks, false);
  return [{ ...element, role: chooseRole(message, own), content }];
}

function decodeBlocks(content: unknown): readonly ClientBlock[] {
  return pairClientBlocks(
    content,
    decodeAnthropicBlocks(removeCacheMarks(content), ANTHROPIC_NAME).parts,
    blockFormat,
  );
}

async function encodeBlock(edited: EditedPiece<ClientBlock>, base64Of: LoadBase64): Promise<unknown> {
  if (edited.type === "own") return edited.piece.block;
  const { part } = edited;
  const own = edited.type === "changed" ? toObject(edited.piece.block) : undefined;
  if (part.type === "tool-call") {
    const isCall = own?.type === "tool_use";
    return isCall ? { ...own, input: part.input } : buildCallBlock(part);
  }
  if (part.type === "tool-result") {
    const isResult = edited.type === "changed" && own?.type === "tool_result";
    if (isResult)
      return { ...own, content: await encodeOutput(part, edited.original, own.content, base64Of) };
    const { callId, isError } = part;
    const content = await encodeOutput(part, undefined, undefined, base64Of);
    return { type: "tool_result", tool_use_id: callId, content, ...(isError && { is_error: true }) };
  }
  return encodeEditedBlock(edited, blockFormat, base64Of);
}

/** The content of an edited tool result. */
async function encodeOutput(
  part: ToolResultPart,
  original: Part | undefined,
  content: unknown,
  base64Of: LoadBase64,
): Promise<string | readonly unknown[]> {
  const before = original?.type === "tool-result" ? original.output : [];
  const blocks: unknown[] = [];
  for (const edited of applyPieceEdits(part.output, before, decodeBlocks(content))) {
    const block = await encodeEditedBlock(edited, blockFormat, base64Of);
    if (block !== undefined) blocks.push(block);
  }
  return buildContent(content, blocks, false);
}

/** The role of a message; notes are sent as the user's, as is tool output whose call is gone. */
function chooseRole({ role }: Message, own: ClientMessage | undefined): unknown {
  if (own && role === own.original.role) return own.elements[0]?.role;
  return role === "assistant" ? "assistant" : "user";
}

/** The API requires results before text. */
function sortResultsFirst(blocks: readonly unknown[]): readonly unknown[] {
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function areResultsFirst(blocks: readonly unknown[]): boolean {
  const last = blocks.findLastIndex(isResult);
  return blocks.slice(0, last + 1).every(isResult);
}

function isResult(block: unknown): boolean {
  return toObject(block)?.type === "tool_result";
}
