import { objectOf } from "../../../formats/content/fields.ts";
import { soundIn } from "../../../formats/content/openai-chat-media-fields.ts";
import type { BlobPart } from "../../../index.ts";
import type { JsonObject } from "../api.ts";
import type { BlockForm } from "../editing/blocks.ts";
import { NAME } from "./decode.ts";

/** Blocks of user content, the only content with media. */
export const userForm: BlockForm = {
  text: (text) => ({ type: "text", text }),
  media: mediaBlock,
  // Audio is referenced in a field of its own; its transcript is text.
  raw: (part) => (part.format === NAME && !soundIn(part) ? objectOf(part.value) : undefined),
};

/** Blocks of all other content. */
export const plainForm: BlockForm = { ...userForm, media: () => undefined };

function mediaBlock({ mime, name }: BlobPart, data: string): JsonObject {
  const url = `data:${mime};base64,${data}`;
  if (mime.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (mime.startsWith("audio/"))
    return { type: "input_audio", input_audio: { data, format: mime.slice("audio/".length) } };
  return { type: "file", file: { ...(name !== undefined && { filename: name }), file_data: url } };
}
