import type { Message } from "../model/message.ts";
import type { BlobPart, Part, ToolResultPart } from "../model/part.ts";
import { toObject } from "./fields.ts";
import type { PartSource } from "./part-source.ts";
import type { WireObject } from "./wire.ts";

/** A restored part, with fields that an import kept. */
export interface MessagePiece<P extends Part = Part> {
  readonly part: P;
  readonly extra?: WireObject;
}

/** Restores the parts of a message, with the extras of a format. */
export async function restorePieces(
  message: Message,
  source: Pick<PartSource, "restore">,
  format: string,
): Promise<readonly MessagePiece[]> {
  const extras = toObject(toObject(message.meta?.[format])?.extras);
  const pieces: MessagePiece[] = [];
  for (const [index, stored] of message.parts.entries()) {
    const extra = toObject(extras?.[String(index)]);
    const part = await restorePart(stored, source);
    pieces.push(extra ? { part, extra } : { part });
  }
  return pieces;
}

async function restorePart(stored: Part, source: Pick<PartSource, "restore">): Promise<Part> {
  const part = await source.restore(stored);
  if (part.type !== "tool-result") return part;
  const output: ToolResultPart["output"][number][] = [];
  for (const piece of part.output)
    output.push((await source.restore(piece)) as ToolResultPart["output"][number]);
  return { ...part, output };
}

/** Tells media from a large part that is stored as a blob. */
export function isMedia(part: Part): part is BlobPart {
  return part.type === "blob" && part.of === undefined;
}
