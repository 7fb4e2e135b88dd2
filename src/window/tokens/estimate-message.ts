import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import { requireParts } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { estimateText } from "./estimate-text.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Factor by which an uncalibrated estimate is raised before it is compared with a limit. */
export const SAFETY = 1.2;

/** Tokens of an image of any size: providers scale large ones down. */
export const IMAGE_TOKENS = 1_500;

/** Tokens of a role and its delimiters. */
const MESSAGE_TOKENS = 4;
/** Tokens of the frame around a tool call or its result, including its id. */
const CALL_TOKENS = 12;
/** Bytes per token of text, or of media that providers read as text, if its content is not available. */
const BYTES_PER_TOKEN = 4;
/** Compressed sound takes ten to twenty tokens a second; uncompressed sound has more bytes per token. */
const SOUND_BYTES_PER_TOKEN = 800;

/** Counts the tokens of a text. */
type TextCounter = (text: string) => number;

/** Estimated tokens of a message in a window, including reasoning. */
export function estimateMessage(message: Message): number {
  return sumParts(requireParts(message), MESSAGE_TOKENS, estimateText);
}

/**
 * Like `estimateMessage`, but counts texts with a tokenizer; frames, images and content outside the log are still
 * estimated.
 */
export function tokensOfMessage(message: Message, tokenizer?: Tokenizer): number {
  if (!tokenizer) return estimateMessage(message);
  return sumParts(requireParts(message), MESSAGE_TOKENS, (text) => tokenizer.count(text));
}

function sumParts(parts: readonly Part[], frame: number, count: TextCounter): number {
  return parts.reduce((tokens, part) => tokens + countPart(part, count), frame);
}

function countPart(part: Part, count: TextCounter): number {
  switch (part.type) {
    case "text":
      return count(part.text);
    case "reasoning":
      return countReasoning(part.text, part.opaque, count);
    case "tool-call":
      return CALL_TOKENS + count(part.name) + countJson(part.input, count);
    case "tool-result":
      return sumParts(part.output, CALL_TOKENS, count);
    case "blob":
      return countBlob(part, count);
    case "raw":
      return countRaw(JSON.stringify(part.value), count);
  }
}

const PICTURE = /data:image\/[\w.+-]+;base64,[\w+/=-]*/g;

/** Images inside raw provider data count as images. */
function countRaw(json: string, count: TextCounter): number {
  const pictures = json.match(PICTURE)?.length ?? 0;
  return pictures === 0 ? count(json) : count(json.replace(PICTURE, "")) + pictures * IMAGE_TOKENS;
}

/**
 * A signature next to readable reasoning is not charged; reasoning that is only ciphertext is counted by its length.
 */
function countReasoning(text: string, opaque: Json | undefined, count: TextCounter): number {
  if (text.length > 0 || opaque === undefined) return count(text);
  return Math.ceil(JSON.stringify(opaque).length / BYTES_PER_TOKEN);
}

function countBlob(blob: BlobPart, count: TextCounter): number {
  if (blob.of === undefined) {
    if (blob.mime.startsWith("image/")) return IMAGE_TOKENS;
    return Math.ceil(
      blob.sizeBytes / (blob.mime.startsWith("audio/") ? SOUND_BYTES_PER_TOKEN : BYTES_PER_TOKEN),
    );
  }
  const frame = blob.of === "tool-call" ? CALL_TOKENS + count(blob.toolName ?? "") : 0;
  return frame + countSpilled(blob, count);
}

/** Extrapolates from the preview of a blob to the whole: the same number of tokens per byte. */
function countSpilled({ of, preview, sizeBytes, shownCharacters }: BlobPart, count: TextCounter): number {
  if (shownCharacters !== undefined && preview)
    return Math.ceil((count(preview) * Math.min(shownCharacters, sizeBytes)) / preview.length);
  if (!preview) return Math.ceil(Math.min(shownCharacters ?? sizeBytes, sizeBytes) / BYTES_PER_TOKEN);
  const picture = of === "raw" ? preview.search(PICTURE) : -1;
  if (picture >= 0) return count(preview.slice(0, picture)) + IMAGE_TOKENS;
  return Math.ceil((count(preview) * sizeBytes) / utf8Length(preview));
}

function countJson(value: Json, count: TextCounter): number {
  return count(typeof value === "string" ? value : JSON.stringify(value));
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}
