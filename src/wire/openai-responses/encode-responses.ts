import type { Message } from "../../model/message.ts";
import type { Part, PartInput, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import { encodeEditedBlock } from "../editing/client-blocks.ts";
import { applyPieceEdits, type EditedPiece } from "../editing/edit-pieces.ts";
import { encodeMarkedOutput } from "../editing/encode-marked-output.ts";
import { isUnedited } from "../editing/same-part.ts";
import { toObject, toText } from "../fields.ts";
import type { ClientMessage, LoadBase64, WireObject } from "../wire.ts";
import { dropUnboundReasoning } from "./bound-reasoning.ts";
import { buildCallItem } from "./encode-responses-items.ts";
import { createItemListBuilder } from "./item-list-builder.ts";
import { type ItemPiece, splitItems } from "./item-pieces.ts";
import { CALL_FIELDS, decodeOutputItem } from "./openai-responses-items.ts";
import { getResponsesFormat, responsesOutputFormat } from "./responses-block-formats.ts";

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
