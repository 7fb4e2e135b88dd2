import type { Message } from "../../model/message.ts";
import type { Part, PartInput, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { buildContent, type ClientBlock, encodeEditedBlock } from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { encodeMarkedOutput } from "../editing/encode-marked-output.ts";
import { getPartKind } from "../editing/part-kind.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toArray, toObject, toText } from "../fields.ts";
import type { ClientMessage, LoadBase64, WireObject } from "../wire.ts";
import { decodeItemParts } from "./decode-responses.ts";
import { buildCallItem } from "./encode-responses-items.ts";
import { CALL_FIELDS, decodeOutputItem } from "./openai-responses-items.ts";
import { getResponsesFormat, responsesOutputFormat } from "./responses-block-formats.ts";

/** A piece of a message: an item, or a block in the content of one. */
interface ItemPiece extends ClientBlock {
  readonly item: WireObject;
  /** True if the block is part of an item's content; otherwise it is the item itself. */
  readonly isContent: boolean;
}

/** The remaining pieces of a turn whose reasoning is bound to the items after it. */
interface BoundPieces {
  readonly edited: readonly EditedPiece<ItemPiece>[];
  /** Items whose reasoning has left; the provider would refuse them under their ids. */
  readonly unbound: ReadonlySet<WireObject>;
}

/** A list of items under construction. */
interface ItemListBuilder {
  /** Adds an item; `own` is the client's item that it was made from. */
  addItem(item: WireObject, own: WireObject | undefined): void;
  /** Adds a block to the content of the client's item, or to the message under construction. */
  addBlock(block: unknown, own: WireObject | undefined): void;
  end(): readonly WireObject[];
}

/** The items of an edited message or of a note; empty if nothing is left. */
export async function encodeResponses(
  message: Message,
  own: ClientMessage | undefined,
  base64Of: LoadBase64,
): Promise<readonly WireObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const pieces = splitItems(own?.elements ?? []);
  const { edited, unbound } = dropUnboundReasoning(
    applyPieceEdits(message.parts, own?.original.parts ?? [], pieces),
    pieces,
  );
  const role = chooseRole(message, own);
  const form = getResponsesFormat(role);
  const items = createItemListBuilder(role, unbound);
  for (const piece of edited) {
    const item = await encodeItem(piece, base64Of);
    if (item) items.addItem(item, piece.type === "new" ? undefined : piece.piece.item);
    else {
      const block = await encodeEditedBlock(piece, form, base64Of);
      const home = piece.type !== "new" && piece.piece.isContent ? piece.piece.item : undefined;
      if (block !== undefined) items.addBlock(block, home);
    }
  }
  return items.end();
}

/** Notes are sent as the user's, as is tool output whose call is gone. */
function chooseRole({ role }: Message, own: ClientMessage | undefined): string {
  const [first] = own?.elements ?? [];
  if (own && role === own.original.role && typeof first?.role === "string") return first.role;
  return role === "assistant" ? "assistant" : role === "system" && own ? "system" : "user";
}

/** The item of a piece; undefined if the piece is content. */
async function encodeItem(
  edited: EditedPiece<ItemPiece>,
  base64Of: LoadBase64,
): Promise<WireObject | undefined> {
  if (edited.type === "own") return edited.piece.isContent ? undefined : edited.piece.item;
  const { part } = edited;
  const own = edited.type === "changed" && !edited.piece.isContent ? edited.piece.item : undefined;
  if (part.type === "tool-call") return own ? encodeChangedCall(own, part) : buildCallItem(part);
  if (part.type !== "tool-result") return undefined;
  const original = edited.type === "changed" ? edited.original : undefined;
  const output = await encodeOutput(part, original, own, base64Of);
  return own ? { ...own, output } : { type: "function_call_output", call_id: part.callId, output };
}

function encodeChangedCall(own: WireObject, { input }: ToolCallPart): WireObject {
  if (own.type === "function_call") return { ...own, arguments: JSON.stringify(input) };
  const field = CALL_FIELDS.get(toText(own.type) ?? "");
  if (field === undefined) return own;
  const isText = field === "input" && typeof input !== "string";
  return { ...own, [field]: isText ? JSON.stringify(input) : input };
}

function encodeOutput(
  part: ToolResultPart,
  original: Part | undefined,
  item: WireObject | undefined,
  base64Of: LoadBase64,
): Promise<string | readonly unknown[]> {
  return encodeMarkedOutput(
    part,
    original,
    { content: item?.output, parts: decodeOutputParts },
    responsesOutputFormat,
    base64Of,
  );
}

/** The parts of a tool's output, one per block. */
function decodeOutputParts(output: unknown): readonly PartInput[] {
  const blocks = Array.isArray(output) ? output : output === undefined ? [] : [output];
  return blocks.flatMap((block): readonly PartInput[] => {
    const item = {
      type: "function_call_output",
      call_id: "one",
      output: typeof block === "string" ? block : [block],
    };
    const result = decodeOutputItem(item)?.part;
    if (result?.type !== "tool-result") return [];
    if (typeof result.output === "string") return [{ type: "text", text: result.output }];
    // A text that consists only of the failure mark is read as a mark; here it is text.
    const [only] = result.output;
    return [only ?? { type: "text", text: toText(toObject(block)?.text) ?? "" }];
  });
}

/** Removes reasoning whose next item has left, because the API requires both or neither. */
function dropUnboundReasoning(
  edited: readonly EditedPiece<ItemPiece>[],
  pieces: readonly ItemPiece[],
): BoundPieces {
  const staying = new Set(edited.flatMap((piece) => (isStaying(piece) ? [piece.piece.item] : [])));
  const isReasoning = ({ part }: ItemPiece) => getPartKind(part) === "reasoning";
  const leaving = new Set<WireObject>();
  const unbound = new Set<WireObject>();
  let isLost = false;
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    if (!isReasoning(piece)) {
      if (isLost) unbound.add(piece.item);
      continue;
    }
    const follower = pieces.slice(index + 1).find((later) => !isReasoning(later));
    const isFollowed = follower !== undefined && staying.has(follower.item);
    if (!before || !isReasoning(before)) isLost = false;
    if (isFollowed && staying.has(piece.item)) continue;
    leaving.add(piece.item);
    isLost = true;
  }
  return {
    edited: edited.filter((piece) => piece.type === "new" || !leaving.has(piece.piece.item)),
    unbound,
  };
}

/** True for a piece whose item still has its original kind. */
function isStaying(edited: EditedPiece<ItemPiece>): edited is Exclude<typeof edited, { type: "new" }> {
  if (edited.type !== "changed") return edited.type === "own";
  return edited.piece.isContent || getPartKind(edited.part) === getPartKind(edited.piece.part);
}

/**
 * Builds items: blocks of one item stay together, others become a message of `role`. Items in `unbound` lose their id.
 */
function createItemListBuilder(role: string, unbound: ReadonlySet<WireObject>): ItemListBuilder {
  const items: WireObject[] = [];
  let open: { readonly own: WireObject | undefined; readonly blocks: unknown[] } | undefined;
  const push = (item: WireObject, own: WireObject | undefined) => {
    const { id: _, ...rest } = item;
    items.push(own && unbound.has(own) ? rest : item);
  };
  const close = () => {
    if (!open) return;
    const { own, blocks } = open;
    open = undefined;
    if (own) push({ ...own, content: buildContent(own.content, blocks, true) }, own);
    else push({ type: "message", role, content: blocks }, undefined);
  };
  return {
    addItem(item, own) {
      close();
      push(item, own);
    },
    addBlock(block, own) {
      if (!open || (own && open.own !== own)) {
        close();
        open = { own, blocks: [] };
      }
      open.blocks.push(block);
    },
    end() {
      close();
      return items;
    },
  };
}

/** The pieces of items in the order of their parts. */
function splitItems(items: readonly WireObject[]): readonly ItemPiece[] {
  return items.flatMap((item) => {
    const isContent = (item.type ?? "message") === "message";
    const { content } = item;
    const blocks = !isContent
      ? [item]
      : typeof content === "string"
        ? [buildTextBlock(content)]
        : toArray(content);
    return decodeItemParts(item).map(({ part }, index) => ({ part, block: blocks[index], item, isContent }));
  });
}

function buildTextBlock(text: string): WireObject {
  return { type: "text", text };
}
