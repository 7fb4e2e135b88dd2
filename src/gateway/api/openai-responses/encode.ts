import { objectOf, textOf } from "../../../formats/content/fields.ts";
import { CALL_FIELDS, resultOfItem } from "../../../formats/content/openai-responses-items.ts";
import type { Message, Part, PartInput, ToolCallPart, ToolResultPart } from "../../../index.ts";
import type { Base64Of, JsonObject, OwnMessage } from "../api.ts";
import { editedBlock } from "../editing/blocks.ts";
import { type EditedPiece, editedPieces } from "../editing/edited-pieces.ts";
import { markedOutput } from "../editing/marked-output.ts";
import { isUnedited } from "../editing/same-part.ts";
import { formFor, outputForm } from "./blocks.ts";
import { itemList } from "./item-list.ts";
import { type ItemPiece, piecesOf } from "./pieces.ts";
import { withBoundReasoning } from "./reasoning.ts";

/** The items of an edited message or of a note; empty if nothing is left. */
export async function encode(
  message: Message,
  own: OwnMessage | undefined,
  base64Of: Base64Of,
): Promise<readonly JsonObject[]> {
  if (own && isUnedited(message, own.original)) return own.elements;
  const pieces = piecesOf(own?.elements ?? []);
  const { edited, unbound } = withBoundReasoning(
    editedPieces(message.parts, own?.original.parts ?? [], pieces),
    pieces,
  );
  const role = roleOf(message, own);
  const form = formFor(role);
  const items = itemList(role, unbound);
  for (const piece of edited) {
    const item = await itemOf(piece, base64Of);
    if (item) items.addItem(item, piece.type === "new" ? undefined : piece.piece.item);
    else {
      const block = await editedBlock(piece, form, base64Of);
      const home = piece.type !== "new" && piece.piece.isContent ? piece.piece.item : undefined;
      if (block !== undefined) items.addBlock(block, home);
    }
  }
  return items.end();
}

/** Notes are sent as the user's, as is tool output whose call is gone. */
function roleOf({ role }: Message, own: OwnMessage | undefined): string {
  const [first] = own?.elements ?? [];
  if (own && role === own.original.role && typeof first?.role === "string") return first.role;
  return role === "assistant" ? "assistant" : role === "system" && own ? "system" : "user";
}

/** The item of a piece; undefined if the piece is content. */
async function itemOf(edited: EditedPiece<ItemPiece>, base64Of: Base64Of): Promise<JsonObject | undefined> {
  if (edited.type === "own") return edited.piece.isContent ? undefined : edited.piece.item;
  const { part } = edited;
  const own = edited.type === "changed" && !edited.piece.isContent ? edited.piece.item : undefined;
  if (part.type === "tool-call") return own ? changedCall(own, part) : newCall(part);
  if (part.type !== "tool-result") return undefined;
  const original = edited.type === "changed" ? edited.original : undefined;
  const output = await outputOf(part, original, own, base64Of);
  return own ? { ...own, output } : { type: "function_call_output", call_id: part.callId, output };
}

function changedCall(own: JsonObject, { input }: ToolCallPart): JsonObject {
  if (own.type === "function_call") return { ...own, arguments: JSON.stringify(input) };
  const field = CALL_FIELDS.get(textOf(own.type) ?? "");
  if (field === undefined) return own;
  const isText = field === "input" && typeof input !== "string";
  return { ...own, [field]: isText ? JSON.stringify(input) : input };
}

function newCall({ callId, name, input }: ToolCallPart): JsonObject {
  return { type: "function_call", call_id: callId, name, arguments: JSON.stringify(input) };
}

function outputOf(
  part: ToolResultPart,
  original: Part | undefined,
  item: JsonObject | undefined,
  base64Of: Base64Of,
): Promise<string | readonly unknown[]> {
  return markedOutput(part, original, { content: item?.output, parts: outputParts }, outputForm, base64Of);
}

/** The parts of a tool's output, one per block. */
function outputParts(output: unknown): readonly PartInput[] {
  const blocks = Array.isArray(output) ? output : output === undefined ? [] : [output];
  return blocks.flatMap((block): readonly PartInput[] => {
    const item = {
      type: "function_call_output",
      call_id: "one",
      output: typeof block === "string" ? block : [block],
    };
    const result = resultOfItem(item)?.part;
    if (result?.type !== "tool-result") return [];
    if (typeof result.output === "string") return [{ type: "text", text: result.output }];
    // A text that consists only of the failure mark is read as a mark; here it is text.
    const [only] = result.output;
    return [only ?? { type: "text", text: textOf(objectOf(block)?.text) ?? "" }];
  });
}
