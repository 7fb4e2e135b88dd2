import {
  type BlobPart,
  type DataPart,
  LonghaulError,
  type Message,
  type MessageInput,
  type Part,
  type PartInput,
  type ToolResultInput,
  type ToolResultPart,
} from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { sniffMime } from "../../model/mime.ts";

/** Bytes by their digest. */
export type Media = Map<string, Uint8Array>;

/** Converts a message to the form the log would hold, without storing anything; its bytes are added to `media`. */
export function toPlainMessage({ role, text, parts, model, meta }: MessageInput, media: Media): Message {
  const given: readonly PartInput[] = text === undefined ? (parts ?? []) : [{ type: "text", text }];
  return {
    role,
    parts: given.map((part) =>
      part.type === "tool-result" ? toPlainResult(part, media) : toPlainPart(part, media),
    ),
    ...dropUndefined({ model, meta }),
  };
}

function toPlainResult(part: ToolResultInput, media: Media): ToolResultPart {
  const { output } = part;
  if (typeof output === "string") return { ...part, output: [{ type: "text", text: output }] };
  return {
    ...part,
    output: output.map((piece) => (piece.type === "data" ? toBlobPart(piece, media) : piece)),
  };
}

function toPlainPart(part: Exclude<PartInput, { type: "tool-result" }>, media: Media): Part {
  return part.type === "data" ? toBlobPart(part, media) : part;
}

function toBlobPart({ data, mime, name }: DataPart, media: Media): BlobPart {
  if (typeof data !== "string" && !(data instanceof Uint8Array))
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      "messages hold media as a stream; pass the bytes or their base64 instead.",
      { details: { argument: "messages" } },
    );
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : data;
  const digest = computeDigest(bytes);
  media.set(digest, bytes);
  return {
    type: "blob",
    digest,
    sizeBytes: bytes.byteLength,
    mime: sniffMime(bytes) ?? mime ?? "application/octet-stream",
    ...dropUndefined({ name }),
  };
}
