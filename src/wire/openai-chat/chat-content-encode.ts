import { isMedia, type MessagePiece } from "../../formats/writing/request-turns.ts";
import type { ExportedSession } from "../../formats/writing/writer.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { buildMediaLabel, buildMediaMark } from "./openai-chat-media.ts";
import { findAudio } from "./openai-chat-media-fields.ts";

const NAME = "openai-chat";

/** Builds content from text, media and own raw parts: a string if it suffices; undefined if there is none. */
export async function encodeChatContent(
  pieces: readonly MessagePiece[],
  session: ExportedSession,
): Promise<string | WireObject[] | undefined> {
  const content: WireObject[] = [];
  for (const { part, extra } of pieces) {
    const written = await encodeContentPart(part, session);
    if (written) content.push(mergeExtra(written, extra));
  }
  const [first] = content;
  if (!first) return undefined;
  const isPlain = content.length === 1 && first.type === "text" && Object.keys(first).length === 2;
  return isPlain ? (toText(first.text) ?? "") : content;
}

async function encodeContentPart(part: Part, session: ExportedSession): Promise<WireObject | undefined> {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "raw" && part.format === NAME && !findAudio(part)) return toObject(part.value);
  return isMedia(part) ? encodeMediaPart(part, session) : undefined;
}

async function encodeMediaPart(part: BlobPart, session: ExportedSession): Promise<WireObject> {
  const data = await session.base64(part);
  const url = `data:${part.mime};base64,${data}`;
  if (part.mime.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (part.mime.startsWith("audio/"))
    return { type: "input_audio", input_audio: { data, format: part.mime.slice("audio/".length) } };
  const filename = part.name === undefined ? {} : { filename: part.name };
  return { type: "file", file: { ...filename, file_data: url } };
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
  session: ExportedSession,
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
        await encodeMediaPart(piece.part, session),
      );
    }
  }
  return { pieces: marked, media };
}
