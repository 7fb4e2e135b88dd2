import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { BlobPart, Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../../model/part.ts";
import type { Extras } from "../block-content.ts";
import { toObject } from "../fields.ts";
import type { PartSource } from "../part-source.ts";
import type { WireObject } from "../wire.ts";

/** Formats whose raw parts are Anthropic content blocks; they are written unchanged. */
export const BLOCK_FORMATS: ReadonlySet<string> = new Set([
  "anthropic",
  "claude-code",
  "cline",
  "cline-sdk",
  "roo",
]);

/**
 * Converts parts to Anthropic content blocks, one each in order. `extras` are fields that an import found on blocks and
 * our parts cannot represent; they are restored by index.
 */
export async function encodeAnthropicBlocks(
  parts: readonly Part[],
  source: PartSource,
  extras?: Extras,
): Promise<readonly WireObject[]> {
  const blocks: WireObject[] = [];
  for (const [index, part] of parts.entries()) {
    const block = await encodeBlock(part, source);
    blocks.push({ ...block, ...toObject(extras?.[String(index)]) });
  }
  return blocks;
}

async function encodeBlock(stored: Part, source: PartSource): Promise<WireObject> {
  const part = await source.restore(stored);
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      return encodeReasoning(part);
    case "tool-call":
      return buildCallBlock(part);
    case "tool-result":
      return encodeToolResult(part, source);
    case "blob":
      return buildMediaBlock(part, await source.base64(part));
    case "raw":
      return encodeRaw(part.format, part.value);
  }
}

function encodeReasoning({ text, opaque }: ReasoningPart): WireObject {
  const redacted = toObject(opaque)?.redacted;
  if (text === "" && typeof redacted === "string") return { type: "redacted_thinking", data: redacted };
  // Ciphertext of other providers has other shapes; Anthropic would refuse it.
  return { type: "thinking", thinking: text, ...(typeof opaque === "string" && { signature: opaque }) };
}

async function encodeToolResult(part: ToolResultPart, source: PartSource): Promise<WireObject> {
  const output: WireObject[] = [];
  for (const piece of part.output) output.push(await encodeBlock(piece, source));
  const [first] = output;
  const isPlain = output.length === 1 && first?.type === "text";
  return {
    type: "tool_result",
    tool_use_id: part.callId,
    ...(output.length > 0 && { content: isPlain ? first.text : output }),
    ...dropUndefined({ is_error: part.isError }),
  };
}

/** The block of a tool call. */
export function buildCallBlock({ callId, name, input }: ToolCallPart): WireObject {
  return { type: "tool_use", id: callId, name, input };
}

/** The block of media. */
export function buildMediaBlock({ mime, name }: BlobPart, data: string): WireObject {
  const source = { type: "base64", media_type: mime, data };
  if (mime.startsWith("image/")) return { type: "image", source };
  return { type: "document", source, ...dropUndefined({ title: name }) };
}

function encodeRaw(format: string, value: Json): WireObject {
  const block = toObject(value);
  if (block && BLOCK_FORMATS.has(format)) return block;
  return { type: "text", text: JSON.stringify(value) };
}
