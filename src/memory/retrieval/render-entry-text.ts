import type { Entry } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { BlobPart, Part } from "../../model/part.ts";

/** Larger parts are not loaded for display; their preview is shown. */
const MAX_BLOB_BYTES = 8_000_000;

/** The text of an entry, including calls and their results; "" for entries without text. */
export async function renderEntryText(
  entry: Entry,
  restore: (part: BlobPart) => Promise<Part>,
): Promise<string> {
  if (entry.kind === "redacted") return "[removed on request]";
  if (entry.kind === "damaged") return "[damaged on disk]";
  if (entry.kind === "notice") return entry.text;
  if (entry.kind !== "message") return "";
  const texts: string[] = [];
  for (const part of entry.message.parts) texts.push(await renderPartText(part, restore));
  return texts.filter((text) => text !== "").join("\n");
}

async function renderPartText(part: Part, restore: (part: BlobPart) => Promise<Part>): Promise<string> {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `[calls ${part.name}] ${JSON.stringify(part.input)}`;
    case "tool-result": {
      const outputs: string[] = [];
      for (const output of part.output) outputs.push(await renderPartText(output, restore));
      return outputs.join("\n");
    }
    case "blob":
      return renderBlobText(part, restore);
    case "raw":
      return "";
  }
}

async function renderBlobText(part: BlobPart, restore: (part: BlobPart) => Promise<Part>): Promise<string> {
  if (part.of === undefined) return `[${part.mime}${part.name === undefined ? "" : ` ${part.name}`}]`;
  if (part.sizeBytes > MAX_BLOB_BYTES) return part.preview ?? "";
  try {
    const restored = await restore(part);
    return restored.type === "blob" ? "" : await renderPartText(restored, restore);
  } catch (error) {
    if (isLonghaulError(error, "BLOB_NOT_FOUND") || isLonghaulError(error, "BLOB_CORRUPT"))
      return part.preview ?? "";
    throw error;
  }
}
