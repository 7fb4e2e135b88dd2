import type { BlobPart, Part, PartInput, RawPart } from "../../model/part.ts";
import { toArray, toObject } from "../fields.ts";
import type { LoadBase64, WireObject } from "../wire.ts";
import type { ClientPiece, EditedPiece } from "./edit-pieces.ts";

/** A content block that a client wrote. */
export interface ClientBlock extends ClientPiece {
  readonly block: unknown;
}

/** The format of text, media and raw blocks at one place of an API. */
export interface BlockFormat {
  text(text: string): WireObject;
  /** Undefined where media are not allowed. */
  media(part: BlobPart, base64: string): WireObject | undefined;
  /** Undefined where the block is not allowed. */
  raw(part: RawPart): WireObject | undefined;
}

/** The client's content blocks with their decoded parts, one part per block. */
export function pairClientBlocks(
  content: unknown,
  parts: readonly PartInput[],
  form: BlockFormat,
): readonly ClientBlock[] {
  const blocks = typeof content === "string" ? [form.text(content)] : toArray(content);
  return parts.map((part, index) => ({ part, block: blocks[index] }));
}

/** The block of an edited piece of content; undefined for parts that content cannot hold. */
export async function encodeEditedBlock(
  edited: EditedPiece<ClientBlock>,
  form: BlockFormat,
  base64Of: LoadBase64,
): Promise<unknown> {
  if (edited.type === "own") return edited.piece.block;
  const { part } = edited;
  if (edited.type === "new") return encodeNewBlock(part, form, base64Of);
  const own = toObject(edited.piece.block);
  if (part.type === "text" && edited.piece.part.type === "text" && own) return { ...own, text: part.text };
  const block = await encodeNewBlock(part, form, base64Of);
  const mark = own?.cache_control;
  return block && mark !== undefined ? { ...block, cache_control: mark } : block;
}

/** A block for a new part; undefined for parts that content cannot hold. */
async function encodeNewBlock(
  part: Part,
  form: BlockFormat,
  base64Of: LoadBase64,
): Promise<WireObject | undefined> {
  switch (part.type) {
    case "text":
      return form.text(part.text);
    case "raw":
      return form.raw(part) ?? form.text(JSON.stringify(part.value));
    case "blob":
      return encodeBlob(part, form, base64Of);
    default:
      return undefined;
  }
}

async function encodeBlob(
  part: BlobPart,
  form: BlockFormat,
  base64Of: LoadBase64,
): Promise<WireObject | undefined> {
  if (part.of === "reasoning" || part.of === "tool-call") return undefined;
  const base64 = await base64Of(part.digest);
  if (part.of === undefined) {
    const media = base64 === undefined ? undefined : form.media(part, base64);
    return media ?? form.text(describeBlob(part));
  }
  if (base64 === undefined) return form.text(part.preview ?? "");
  const text = Buffer.from(base64, "base64").toString("utf8");
  return part.of === "text" ? form.text(text) : (form.raw(JSON.parse(text)) ?? form.text(text));
}

/** A placeholder for media that are unavailable or not allowed here. */
function describeBlob({ mime, sizeBytes, name }: BlobPart): string {
  return `[${name ?? "file"}: ${mime}, ${sizeBytes} bytes, not shown here]`;
}

/**
 * Turns blocks into content: a string if the client wrote a string or nothing and all blocks are plain text. `join`
 * allows several texts to be joined into one string.
 */
export function buildContent(
  own: unknown,
  blocks: readonly unknown[],
  join: boolean,
): string | readonly unknown[] {
  const texts = blocks.map(findPlainText);
  const isPlain = !Array.isArray(own) && texts.every((text) => text !== undefined);
  return isPlain && (join || texts.length <= 1) ? texts.join("\n\n") : blocks;
}

function findPlainText(value: unknown): string | undefined {
  const block = toObject(value);
  if (!block || typeof block.text !== "string") return undefined;
  return Object.keys(block).every((field) => field === "type" || field === "text") ? block.text : undefined;
}
