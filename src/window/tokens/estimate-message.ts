import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import { partsOf } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { estimateText } from "./estimate-text.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** By how much an estimate that no report has calibrated yet is raised before it is held against a limit. */
export const SAFETY = 1.2;

/** What an image takes, whatever its size: providers scale large ones down. */
export const IMAGE_TOKENS = 1_500;

/** What a role and its delimiters take. */
const MESSAGE_TOKENS = 4;
/** What the frame around a tool call or its result takes, its id included. */
const CALL_TOKENS = 12;
/** Bytes of a text, or of media that providers read as text, per token when nothing of it can be seen. */
const BYTES_PER_TOKEN = 4;
/** Ten to twenty tokens a second, of sound that is packed; more bytes of one that is not. */
const SOUND_BYTES_PER_TOKEN = 800;

/** How many tokens a text takes. */
type Count = (text: string) => number;

/** How many tokens a message takes of a window, reasoning included. */
export function estimateMessage(message: Message): number {
  return sumParts(partsOf(message), MESSAGE_TOKENS, estimateText);
}

/** The same with its texts counted by a tokenizer; frames, images and what is not in the log are still estimated. */
export function tokensOfMessage(message: Message, tokenizer?: Tokenizer): number {
  if (!tokenizer) return estimateMessage(message);
  return sumParts(partsOf(message), MESSAGE_TOKENS, (text) => tokenizer.count(text));
}

function sumParts(parts: readonly Part[], frame: number, count: Count): number {
  return parts.reduce((tokens, part) => tokens + tokensOfPart(part, count), frame);
}

function tokensOfPart(part: Part, count: Count): number {
  switch (part.type) {
    case "text":
      return count(part.text);
    case "reasoning":
      return tokensOfReasoning(part.text, part.opaque, count);
    case "tool-call":
      return CALL_TOKENS + count(part.name) + tokensOfJson(part.input, count);
    case "tool-result":
      return sumParts(part.output, CALL_TOKENS, count);
    case "blob":
      return tokensOfBlob(part, count);
    case "raw":
      return tokensOfRaw(JSON.stringify(part.value), count);
  }
}

const PICTURE = /data:image\/[\w.+-]+;base64,[\w+/=-]*/g;

/** Pictures inside what only its format knows are pictures all the same. */
function tokensOfRaw(json: string, count: Count): number {
  const pictures = json.match(PICTURE)?.length ?? 0;
  return pictures === 0 ? count(json) : count(json.replace(PICTURE, "")) + pictures * IMAGE_TOKENS;
}

/** A signature next to readable reasoning is not charged; reasoning that is only ciphertext is as long as that. */
function tokensOfReasoning(text: string, opaque: Json | undefined, count: Count): number {
  if (text.length > 0 || opaque === undefined) return count(text);
  return Math.ceil(JSON.stringify(opaque).length / BYTES_PER_TOKEN);
}

function tokensOfBlob(blob: BlobPart, count: Count): number {
  if (blob.of === undefined) {
    if (blob.mime.startsWith("image/")) return IMAGE_TOKENS;
    return Math.ceil(
      blob.sizeBytes / (blob.mime.startsWith("audio/") ? SOUND_BYTES_PER_TOKEN : BYTES_PER_TOKEN),
    );
  }
  const frame = blob.of === "tool-call" ? CALL_TOKENS + count(blob.toolName ?? "") : 0;
  return frame + tokensOfSpilled(blob, count);
}

/** The preview of a spilled part stands for the whole: as many tokens per byte. */
function tokensOfSpilled({ of, preview, sizeBytes, shownCharacters }: BlobPart, count: Count): number {
  if (shownCharacters !== undefined && preview)
    return Math.ceil((count(preview) * Math.min(shownCharacters, sizeBytes)) / preview.length);
  if (!preview) return Math.ceil(Math.min(shownCharacters ?? sizeBytes, sizeBytes) / BYTES_PER_TOKEN);
  const picture = of === "raw" ? preview.search(PICTURE) : -1;
  if (picture >= 0) return count(preview.slice(0, picture)) + IMAGE_TOKENS;
  return Math.ceil((count(preview) * sizeBytes) / utf8Length(preview));
}

function tokensOfJson(value: Json, count: Count): number {
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
