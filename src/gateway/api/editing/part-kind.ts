import type { BlobPart, DataPart, PartInput, ToolResultInput, ToolResultPart } from "../../../index.ts";

/** What a part is, whether or not it was too large for the log. */
export type PartKind = "text" | "blank" | "reasoning" | "call" | "result" | "media" | "raw";

/** A part as the log holds it, or on its way in. */
export type AnyPart = PartInput | ToolResultPart;

/** Tells what a part is. Text that says nothing is a kind of its own: clients drop it as they please. */
export function kindOf(part: AnyPart): PartKind {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? "blank" : "text";
    case "reasoning":
      return "reasoning";
    case "tool-call":
      return "call";
    case "tool-result":
      return "result";
    case "data":
      return "media";
    case "raw":
      return "raw";
    case "blob":
      return part.of === undefined ? "media" : part.of === "tool-call" ? "call" : part.of;
  }
}

/** True for a part that was too large for the log. */
export function isSpilled(part: AnyPart): part is BlobPart {
  return part.type === "blob" && part.of !== undefined;
}

/** The call that a part makes or answers. */
export function callIdOf(part: AnyPart): string | undefined {
  if (part.type === "tool-call" || part.type === "tool-result" || part.type === "blob") return part.callId;
  return undefined;
}

/** The pieces of a tool's output. */
export function outputOf({
  output,
}: ToolResultInput | ToolResultPart): readonly Exclude<AnyPart, ToolResultInput | ToolResultPart>[] {
  return typeof output === "string" ? [{ type: "text", text: output }] : output;
}

/** Media on their way in, as base64. */
export function base64In({ data }: DataPart): string | undefined {
  return typeof data === "string" ? data : undefined;
}
