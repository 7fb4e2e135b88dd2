import type { Part } from "../../model/part.ts";
import { toObject, toText } from "../fields.ts";
import { isMedia, type MessagePiece } from "../message-pieces.ts";
import type { PartSource } from "../part-source.ts";
import type { WireObject } from "../wire.ts";
import { buildChatMedia } from "./chat-block-formats.ts";
import { OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { buildMediaLabel, buildMediaMark } from "./openai-chat-media.ts";
import { findAudio } from "./openai-chat-media-fields.ts";

/** Builds content from text, media and own raw parts: a string if it suffices; undefined if there is none. */
export async function encodeChatContent(
  pieces: readonly MessagePiece[],
  source: Pick<PartSource, "base64">,
): Promise<string | WireObject[] | undefined> {
  const content: WireObject[] = [];
  for (const { part, extra } of pieces) {
    const written = await encodeContentPart(part, source);
    if (written) content.push(mergeExtra(written, extra));
  }
  const [first] = content;
  if (!first) return undefined;
  const isPlain = content.length === 1 && first.type === "text" && Object.keys(first).length === 2;
  return isPlain ? (toText(first.text) ?? "") : content;
}

async function encodeContentPart(
  part: Part,
  source: Pick<PartSource, "base64">,
): Promise<WireObject | undefined> {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "raw" && part.format === OPENAI_CHAT_NAME && !findAudio(part))
    return toObject(part.value);
  return isMedia(part) ? buildChatMedia(part, await source.base64(part)) : undefined;
}

/** Merges the kept fields into a content part, including those inside its object. */
function mergeExtra(part: WireObject, extra: WireObject = {}): WireObject {
  const inner = Object.entries(extra).map(([field, value]) => {
    const [own, kept] = [toObject(part[field]), toObject(value)];
    return [field, own && kept ? { ...own, ...kept } : value];
  });
  return { ...part, ...Object.fromEntries(inner) };
}

/** Replaces media with marks and returns the media separately. */
export async function markMedia(
  pieces: readonly MessagePiece[],
  owner: string,
  source: Pick<PartSource, "base64">,
): Promise<{ readonly pieces: readonly MessagePiece[]; readonly media: readonly WireObject[] }> {
  const marked: MessagePiece[] = [];
  const media: WireObject[] = [];
  for (const piece of pieces) {
    if (!isMedia(piece.part)) marked.push(piece);
    else {
      const number = media.length / 2 + 1;
      marked.push({ part: { type: "text", text: buildMediaMark(number, owner) } });
      media.push(
        { type: "text", text: buildMediaLabel(number, owner) },
        buildChatMedia(piece.part, await source.base64(piece.part)),
      );
    }
  }
  return { pieces: marked, media };
}
