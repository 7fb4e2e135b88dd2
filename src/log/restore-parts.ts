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
