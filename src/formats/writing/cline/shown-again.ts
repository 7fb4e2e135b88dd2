import type { BlobPart, Entry, Part } from "../../../index.ts";
import { type Pieces, textOfPieces, textsOfBlock } from "../../cline/copies.ts";
import { kindOf, type Shown, type ShownImage } from "../../cline/shown-message.ts";
import { objectOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import type { ExportedSession } from "../writer.ts";
import type { SentWindow } from "./sent-window.ts";

/** Restores a shown message to its original form. */
export async function shownAgain(
  entry: Entry,
  shown: Shown,
  window: SentWindow | undefined,
  session: ExportedSession,
): Promise<JsonObject> {
  const parts = entry.kind === "message" ? entry.message.parts : [];
  const text = shown.text ? resolved(shown.text, window) : await wordsOf(shown, parts, session);
  const images = shown.images && (await imagesOf(shown.images, parts, window, session));
  return { ...shown.shown, ...(text !== undefined && { text }), ...(images && { images }) };
}

/** Resolves references; if a referenced message has changed, that part of the text is missing. */
function resolved(pieces: Pieces, window: SentWindow | undefined): string {
  const textsAt = (distance: number, block: number) => {
    const sent = window?.at(distance)?.blocks[block];
    return sent ? textsOfBlock(sent) : [];
  };
  return textOfPieces(pieces, textsAt) ?? pieces.filter((piece) => typeof piece === "string").join("");
}

/** Returns the text of a shown message that was imported as a message. */
async function wordsOf(
  { shown, ...forms }: Shown,
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
      const input = objectOf(part.input);
      if (call === "text") return String(input?.text);
      return kindOf(shown) === "command" ? String(input?.command) : JSON.stringify(part.input);
    }
    case "tool-result": {
      const output = part.output[0] && (await session.restore(part.output[0]));
      return output?.type === "text" ? output.text : "";
    }
    default:
      return undefined;
  }
}

async function imagesOf(
  images: readonly ShownImage[],
  parts: readonly Part[],
  window: SentWindow | undefined,
  session: ExportedSession,
): Promise<readonly unknown[]> {
  const media = parts.filter((part): part is BlobPart => part.type === "blob" && part.of === undefined);
  const urls: unknown[] = [];
  for (const image of images) {
    const head = objectOf(image)?.part;
    const next = typeof head === "string" ? media.shift() : undefined;
    if (next) urls.push(`${head}${await session.base64(next)}`);
    else urls.push(Array.isArray(image) ? resolved(image as Pieces, window) : image);
  }
  return urls;
}
