import type { BlobPart, Part } from "../../model/part.ts";
import type { Pass, PassContext, Proposal } from "../pass.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { replacePart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { buildStubPart, describeByteSize, getStubPlace } from "../stub.ts";

/** Limits for all images of a window together. */
export interface ImageLimits {
  /** Default 20 MB, which as base64 stays within the request limits of providers. */
  readonly maxBytes?: number;
  /** Default 100. */
  readonly maxCount?: number;
}

/** Share of the limit that remains in use after images were removed. */
const KEPT_SHARE = 0.8;

/** Stubs the oldest images when all images together exceed the limit, until they use at most 80 % of it. */
export function stubStaleImages({ maxBytes = 20_000_000, maxCount = 100 }: ImageLimits = {}): Pass {
  return (slots, context) => {
    let { bytes, count } = measureImages(slots);
    if (bytes <= maxBytes && count <= maxCount) return [];
    const kept = findProtectedSeqs(slots, context.pins);
    const isLeaving = ({ sizeBytes }: BlobPart) => {
      if (bytes <= maxBytes * KEPT_SHARE && count <= maxCount * KEPT_SHARE) return false;
      bytes -= sizeBytes;
      count--;
      return true;
    };
    return slots
      .filter(({ seq, isNote }) => !isNote && !kept.has(seq))
      .flatMap((slot) =>
        slot.message.parts.flatMap((part, index) => stubImages(slot, index, part, isLeaving, context)),
      );
  };
}

function stubImages(
  slot: Slot,
  index: number,
  part: Part,
  isLeaving: (image: BlobPart) => boolean,
  context: PassContext,
): readonly Proposal[] {
  const replaced = <P extends Part>(content: P) => {
    if (!isImage(content) || !isLeaving(content)) return content;
    const what = `An image${content.name === undefined ? "" : ` ${content.name}`}`;
    const size = describeByteSize(content.sizeBytes);
    return buildStubPart({ what, size, ...getStubPlace(slot, context) });
  };
  const other = part.type === "tool-result" ? { ...part, output: part.output.map(replaced) } : replaced(part);
  if (listImages(part).length === listImages(other).length) return [];
  return [replacePart(slot, index, other, "images beyond the limit", context)];
}

/** Counts the images of a window. Runs on every call and mostly finds none, so it allocates nothing per part. */
function measureImages(slots: readonly Slot[]): { bytes: number; count: number } {
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

function listImages(part: Part): readonly BlobPart[] {
  if (part.type === "tool-result") return part.output.filter(isImage);
  return isImage(part) ? [part] : [];
}

function isImage(part: Part): part is BlobPart {
  return part.type === "blob" && part.of === undefined && part.mime.startsWith("image/");
}
