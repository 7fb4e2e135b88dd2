import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { BlobPart } from "../../model/part.ts";
import type { BlockFormat } from "../editing/client-blocks.ts";
import { toObject } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { findAudio } from "./openai-chat-media-fields.ts";

/** Blocks of user content, the only content with media. */
export const chatUserFormat: BlockFormat = {
  text: (text) => ({ type: "text", text }),
  media: buildChatMedia,
  // Audio is referenced in its own field; its transcript is text.
  raw: (part) => (part.format === OPENAI_CHAT_NAME && !findAudio(part) ? toObject(part.value) : undefined),
};

/** Blocks of all other content. */
export const chatPlainFormat: BlockFormat = { ...chatUserFormat, media: () => undefined };

/** The content part of media. */
export function buildChatMedia({ mime, name }: BlobPart, data: string): WireObject {
  const url = `data:${mime};base64,${data}`;
  if (mime.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (mime.startsWith("audio/"))
    return { type: "input_audio", input_audio: { data, format: mime.slice("audio/".length) } };
  return { type: "file", file: { ...dropUndefined({ filename: name }), file_data: url } };
}
