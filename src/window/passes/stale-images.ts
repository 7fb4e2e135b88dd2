import type { BlobPart, Part } from "../../model/part.ts";
import type { Pass, PassContext, Proposal } from "../pass.ts";
import { protectedSeqs } from "../protected.ts";
import { replacePart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { placeOf, sizeOfBytes, stubPart } from "../stub.ts";

/** Limits for all images of a window together. */
export interface ImageBudget {
  /** Default 20 MB, which as base64 stays within the request limits of providers. */
  readonly maxBytes?: number;
  /** Default 100. */
  readonly maxCount?: number;
}

/** Share of the budget that remains in use after images were removed. */
const LEFT_IN_USE = 0.8;

/** Stubs the oldest images when all images together exceed the budget, until they use at most 80 % of it. */
export function staleImages({ maxBytes = 20_000_000, maxCount = 100 }: ImageBudget = {}): Pass {
  return (slots, context) => {
    let { bytes, count } = imagesOf(slots);
    if (bytes <= maxBytes && count <= maxCount) return [];
    const kept = protectedSeqs(slots, context.pins);
    const isLeaving = ({ sizeBytes }: BlobPart) => {
      if (bytes <= maxBytes * LEFT_IN_USE && count <= maxCount * LEFT_IN_USE) return false;
      bytes -= sizeBytes;
      count--;
      return true;
    };
    return slots
      .filter(({ seq, isNote }) => !isNote && !kept.has(seq))
      .flatMap((slot) =>
        slot.message.parts.flatMap((part, index) => withoutImages(slot, index, part, isLeaving, context)),
      );
  };
}

function withoutImages(
  slot: Slot,
  index: number,
  part: Part,
  isLeaving: (image: BlobPart) => boolean,
  context: PassContext,
): readonly Proposal[] {
  const replaced = <P extends Part>(content: P) => {
    if (!isImage(content) || !isLeaving(content)) return content;
    const what = `An image${content.name === undefined ? "" : ` ${content.name}`}`;
    const size = sizeOfBytes(content.sizeBytes);
    return stubPart({ what, size, ...placeOf(slot, context) });
  };
  const other = part.type === "tool-result" ? { ...part, output: part.output.map(replaced) } : replaced(part);
  if (imagesIn(part).length === imagesIn(other).length) return [];
  return [replacePart(slot, index, other, "images beyond the budget", context)];
}

/** Counts the images of a window. Runs on every call and mostly finds none, so it allocates nothing per part. */
function imagesOf(slots: readonly Slot[]): { bytes: number; count: number } {
  let bytes = 0;
  let count = 0;
  const see = (part: Part) => {
    if (!isImage(part)) return;
    bytes += part.sizeBytes;
    count++;
  };
  for (const { message } of slots)
    for (const part of message.parts) {
      if (part.type === "tool-result") for (const inner of part.output) see(inner);
      else if (part.type === "blob") see(part);
    }
  return { bytes, count };
}

function imagesIn(part: Part): readonly BlobPart[] {
  if (part.type === "tool-result") return part.output.filter(isImage);
  return isImage(part) ? [part] : [];
}

function isImage(part: Part): part is BlobPart {
  return part.type === "blob" && part.of === undefined && part.mime.startsWith("image/");
}
