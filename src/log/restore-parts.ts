import { isLonghaulError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";
import type { BlobPart, Part, ToolResultPart } from "../model/part.ts";

/** Loads a part that was too large for the log. */
export type RestorePart = (part: BlobPart) => Promise<Part> | Part;

/**
 * The message with each part that was too large for the log restored, inside tool results too; the same message if it
 * has none. Media remain references.
 */
export async function restoreParts(message: Message, restore: RestorePart): Promise<Message> {
  if (!hasSpilledParts(message)) return message;
  const parts: Part[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool-result") parts.push(isSpilled(part) ? await restore(part) : part);
    else {
      const output: Part[] = [];
      for (const inner of part.output) output.push(isSpilled(inner) ? await restore(inner) : inner);
      parts.push({ ...part, output: output as ToolResultPart["output"] });
    }
  }
  return { ...message, parts };
}

/** True if a part of the message, or of its tool results, was too large for the log. */
export function hasSpilledParts({ parts }: Message): boolean {
  return parts.some(
    (part) => isSpilled(part) || (part.type === "tool-result" && part.output.some(isSpilled)),
  );
}

function isSpilled(part: Part): part is BlobPart {
  return part.type === "blob" && part.of !== undefined;
}

/** Larger parts are not loaded; their preview stands for them. */
const MAX_BLOB_BYTES = 8_000_000;

/** The text of a part that was stored apart, as `read` reads such a part; its preview if it is too large or lost. */
export async function readBlobText(
  part: BlobPart,
  restore: RestorePart,
  read: (part: Part, restore: RestorePart) => Promise<string>,
): Promise<string> {
  if (part.sizeBytes > MAX_BLOB_BYTES) return part.preview ?? "";
  try {
    const restored = await restore(part);
    return restored.type === "blob" ? "" : await read(restored, restore);
  } catch (error) {
    if (isLonghaulError(error, "BLOB_NOT_FOUND") || isLonghaulError(error, "BLOB_CORRUPT"))
      return part.preview ?? "";
    throw error;
  }
}
