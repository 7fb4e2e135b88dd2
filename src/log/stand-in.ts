import type { BlobPart, Part } from "../model/part.ts";

/**
 * Substitute for a part whose blob is missing or damaged; a tool call stays a tool call, so that
 * its result keeps its call.
 */
export function buildStandIn(part: BlobPart): Part {
  const preview = part.preview ?? "";
  if (part.of === "tool-call" && part.callId !== undefined)
    return { type: "tool-call", callId: part.callId, name: part.toolName ?? "", input: { preview } };
  if (part.of === "reasoning") return { type: "reasoning", text: preview };
  return { type: "text", text: `[stored content is missing or damaged; what is left of it:]\n${preview}` };
}
