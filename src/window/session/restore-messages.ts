import type { Blobs } from "../../log/blobs.ts";
import { hasSpilledParts } from "../../log/restore-parts.ts";
import type { Message } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { clipText } from "../clip-text.ts";
import type { Slot } from "../slot.ts";

/** The messages of a window with text stored as blobs restored and clipped; media remain references. */
export async function restoreMessages(slots: readonly Slot[], blobs: Blobs): Promise<readonly Message[]> {
  const restore = async (part: BlobPart) => clipShown(await blobs.restoreOrPreview(part), part);
  const messages: Message[] = [];
  for (const { message } of slots)
    messages.push(hasSpilledParts(message) ? await blobs.restoreMessage(message, restore) : message);
  return messages;
}

function clipShown(whole: Part, { shownCharacters }: BlobPart): Part {
  if (whole.type !== "text" || shownCharacters === undefined) return whole;
  return { ...whole, text: clipText(whole.text, shownCharacters) };
}
