import type { Json } from "../../model/json.ts";
import type { Message } from "../../model/message.ts";
import type { BlobPart, Part } from "../../model/part.ts";
import { estimateText } from "./estimate-text.ts";

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

/** How many tokens a message takes of a window, reasoning included. */
export function estimateMessage(message: Message): number {
  return message.parts.reduce((tokens, part) => tokens + estimatePart(part), MESSAGE_TOKENS);
}

function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
      return estimateText(part.text);
    case "reasoning":
      return estimateReasoning(part.text, part.opaque);
    case "tool-call":
      return CALL_TOKENS + estimateText(part.name) + estimateJson(part.input);
    case "tool-result":
      return part.output.reduce((tokens, piece) => tokens + estimatePart(piece), CALL_TOKENS);
    case "blob":
      return estimateBlob(part);
    case "raw":
      return estimateJson(part.value);
  }
}

/** A signature next to readable reasoning is not charged; reasoning that is only ciphertext is as long as that. */
function estimateReasoning(text: string, opaque: Json | undefined): number {
  if (text.length > 0 || opaque === undefined) return estimateText(text);
  return Math.ceil(JSON.stringify(opaque).length / BYTES_PER_TOKEN);
}

function estimateBlob(blob: BlobPart): number {
  if (blob.of === undefined) {
    return blob.mime.startsWith("image/") ? IMAGE_TOKENS : Math.ceil(blob.sizeBytes / BYTES_PER_TOKEN);
  }
  const frame = blob.of === "tool-call" ? CALL_TOKENS + estimateText(blob.toolName ?? "") : 0;
  return frame + estimateSpilled(blob);
}

/** The preview of a spilled part stands for the whole: as many tokens per byte. */
function estimateSpilled({ preview, sizeBytes }: BlobPart): number {
  if (!preview) return Math.ceil(sizeBytes / BYTES_PER_TOKEN);
  return Math.ceil((estimateText(preview) * sizeBytes) / utf8Length(preview));
}

function estimateJson(value: Json): number {
  return estimateText(typeof value === "string" ? value : JSON.stringify(value));
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
