import type { BlobPart, Part } from "../../index.ts";
import { objectOf, textOf } from "../content/fields.ts";
import { mediaLabel, mediaMark } from "../content/openai-chat-media.ts";
import { soundIn } from "../content/openai-chat-media-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { isMedia, type Piece } from "./turns.ts";
import type { ExportedSession } from "./writer.ts";

const NAME = "openai-chat";

/** Builds content from text, media and own raw parts: a string if it suffices; undefined if there is none. */
export async function contentOf(
  pieces: readonly Piece[],
  session: ExportedSession,
): Promise<string | JsonObject[] | undefined> {
  const content: JsonObject[] = [];
  for (const { part, extra } of pieces) {
    const written = await contentPart(part, session);
    if (written) content.push(merged(written, extra));
  }
  const [first] = content;
  if (!first) return undefined;
  const isPlain = content.length === 1 && first.type === "text" && Object.keys(first).length === 2;
  return isPlain ? (textOf(first.text) ?? "") : content;
}

async function contentPart(part: Part, session: ExportedSession): Promise<JsonObject | undefined> {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "raw" && part.format === NAME && !soundIn(part)) return objectOf(part.value);
  return isMedia(part) ? mediaPart(part, session) : undefined;
}

async function mediaPart(part: BlobPart, session: ExportedSession): Promise<JsonObject> {
  const data = await session.base64(part);
  const url = `data:${part.mime};base64,${data}`;
  if (part.mime.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (part.mime.startsWith("audio/"))
    return { type: "input_audio", input_audio: { data, format: part.mime.slice("audio/".length) } };
  const filename = part.name === undefined ? {} : { filename: part.name };
  return { type: "file", file: { ...filename, file_data: url } };
}

/** Merges the kept fields into a content part, including those inside its object. */
function merged(part: JsonObject, extra: JsonObject = {}): JsonObject {
  const inner = Object.entries(extra).map(([field, value]) => {
    const [own, kept] = [objectOf(part[field]), objectOf(value)];
    return [field, own && kept ? { ...own, ...kept } : value];
  });
  return { ...part, ...Object.fromEntries(inner) };
}

/** Replaces media with marks and returns the media separately. */
export async function withMarks(
  pieces: readonly Piece[],
  owner: string,
  session: ExportedSession,
): Promise<{ readonly pieces: readonly Piece[]; readonly media: readonly JsonObject[] }> {
  const marked: Piece[] = [];
  const media: JsonObject[] = [];
  for (const piece of pieces) {
    if (!isMedia(piece.part)) marked.push(piece);
    else {
      const number = media.length / 2 + 1;
      marked.push({ part: { type: "text", text: mediaMark(number, owner) } });
      media.push({ type: "text", text: mediaLabel(number, owner) }, await mediaPart(piece.part, session));
    }
  }
  return { pieces: marked, media };
}
