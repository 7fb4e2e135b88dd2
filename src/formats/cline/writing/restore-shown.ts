import type { BlobPart, Entry, Part } from "../../../index.ts";
import { toObject } from "../../../wire/fields.ts";
import { getBlockTexts, joinPieces, type TextPieces } from "../../copies/text-pieces.ts";
import type { ExportedSession } from "../../port/writer.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { getShownKind, type ShownImage, type ShownMessage } from "../shown-message.ts";
import type { SentWindow } from "./sent-window.ts";

/** Restores a shown message to its original form. */
export async function restoreShown(
  entry: Entry,
  shown: ShownMessage,
  window: SentWindow | undefined,
  session: ExportedSession,
): Promise<JsonObject> {
  const parts = entry.kind === "message" ? entry.message.parts : [];
  const text = shown.text ? resolvePieces(shown.text, window) : await restoreText(shown, parts, session);
  const images = shown.images && (await restoreImages(shown.images, parts, window, session));
  return { ...shown.shown, ...(text !== undefined && { text }), ...(images && { images }) };
}

/** Resolves references; if a referenced message has changed, that part of the text is missing. */
function resolvePieces(pieces: TextPieces, window: SentWindow | undefined): string {
  const textsAt = (distance: number, block: number) => {
    const sent = window?.at(distance)?.blocks[block];
    return sent ? getBlockTexts(sent) : [];
  };
  return joinPieces(pieces, textsAt) ?? pieces.filter((piece) => typeof piece === "string").join("");
}

/** Returns the text of a shown message that was imported as a message. */
async function restoreText(
  { shown, ...forms }: ShownMessage,
  parts: readonly Part[],
  session: ExportedSession,
): Promise<string | undefined> {
  const [first] = parts;
  const part = first && (await session.restore(first));
  if (!part || typeof shown.text === "string") return undefined;
  const { request, call } = forms as { readonly request?: JsonObject; readonly call?: string };
  switch (part.type) {
    case "text":
      return request ? JSON.stringify({ request: part.text, ...request }) : part.text;
    case "reasoning":
      return part.text;
    case "tool-call": {
      const input = toObject(part.input);
      if (call === "text") return String(input?.text);
      return getShownKind(shown) === "command" ? String(input?.command) : JSON.stringify(part.input);
    }
    case "tool-result": {
      const output = part.output[0] && (await session.restore(part.output[0]));
      return output?.type === "text" ? output.text : "";
    }
    default:
      return undefined;
  }
}

async function restoreImages(
  images: readonly ShownImage[],
  parts: readonly Part[],
  window: SentWindow | undefined,
  session: ExportedSession,
): Promise<readonly unknown[]> {
  const media = parts.filter((part): part is BlobPart => part.type === "blob" && part.of === undefined);
  const urls: unknown[] = [];
  for (const image of images) {
    const head = toObject(image)?.part;
    const next = typeof head === "string" ? media.shift() : undefined;
    if (next) urls.push(`${head}${await session.base64(next)}`);
    else urls.push(Array.isArray(image) ? resolvePieces(image as TextPieces, window) : image);
  }
  return urls;
}
