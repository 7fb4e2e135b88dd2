import type { Part } from "../../../kernel/index.ts";
import type { Extras } from "../../../wire/block-content.ts";
import { toObject } from "../../../wire/fields.ts";
import type { PartSource } from "../../../wire/part-source.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** Formats whose raw parts are pi's blocks; they are written unchanged. */
const BLOCK_FORMATS = new Set(["pi", "openclaw"]);

/** Converts parts to content blocks, one each in order; a tool result becomes several. */
export async function encodePiBlocks(
  parts: readonly Part[],
  session: PartSource,
  extras?: Extras,
): Promise<readonly JsonObject[]> {
  const blocks: JsonObject[] = [];
  for (const [index, stored] of parts.entries()) {
    const part = await session.restore(stored);
    if (part.type === "tool-result")
      for (const one of await encodePiBlocks(part.output, session)) blocks.push(one);
    else blocks.push({ ...(await encodeBlock(part, session)), ...toObject(extras?.[String(index)]) });
  }
  return blocks;
}

async function encodeBlock(
  part: Exclude<Part, { type: "tool-result" }>,
  session: PartSource,
): Promise<JsonObject> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning": {
      const { opaque } = part;
      // pi's signatures are strings; ciphertext of other providers is useless to it.
      return {
        type: "thinking",
        thinking: part.text,
        ...(typeof opaque === "string" && { thinkingSignature: opaque }),
      };
    }
    case "tool-call":
      return { type: "toolCall", id: part.callId, name: part.name, arguments: part.input };
    case "blob":
      if (part.mime.startsWith("image/"))
        return { type: "image", data: await session.base64(part), mimeType: part.mime };
      return { type: "text", text: `[${part.name ?? "file"}: ${part.mime}, ${part.sizeBytes} bytes]` };
    case "raw": {
      const block = toObject(part.value);
      if (block && BLOCK_FORMATS.has(part.format)) return block;
      return { type: "text", text: JSON.stringify(part.value) };
    }
  }
}
