import type { Blobs } from "../../log/blobs.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import type { BlobPart, Part, ToolResultPart } from "../../model/part.ts";
import { clipText } from "../clip-text.ts";
import type { Slot } from "../slot.ts";

/** The messages of a window with text stored as blobs restored; media remain references. */
export async function restoreMessages(slots: readonly Slot[], blobs: Blobs): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (const { message } of slots)
    messages.push(isWhole(message) ? message : await restoreMessage(message, blobs));
  return messages;
}

function isWhole({ parts }: Message): boolean {
  for (const part of parts) {
    if (isSpilled(part)) return false;
    if (part.type === "tool-result") for (const inner of part.output) if (isSpilled(inner)) return false;
  }
  return true;
}

function isSpilled(part: Part): part is BlobPart {
  return part.type === "blob" && part.of !== undefined;
}

async function restoreMessage(message: Message, blobs: Blobs): Promise<Message> {
  const parts: Part[] = [];
  for (const part of message.parts) {
    if (part.type !== "tool-result") parts.push(await restorePart(part, blobs));
    else {
      const output: Part[] = [];
      for (const inner of part.output) output.push(await restorePart(inner, blobs));
      parts.push({ ...part, output: output as ToolResultPart["output"] });
    }
  }
  return { ...message, parts };
}

/** A part that is too large to load is replaced by its preview of head and tail. */
async function restorePart(part: Part, blobs: Blobs): Promise<Part> {
  if (!isSpilled(part)) return part;
  try {
    const whole = await blobs.restoreReadable(part);
    const { shownCharacters } = part;
    if (whole.type !== "text" || shownCharacters === undefined) return whole;
    return { ...whole, text: clipText(whole.text, shownCharacters) };
  } catch (error) {
    if (!isLonghaulError(error, "BLOB_TOO_LARGE")) throw error;
    return { type: "text", text: part.preview ?? "" };
  }
}
