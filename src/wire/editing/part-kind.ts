import type { BlobPart, DataPart, PartInput, ToolResultInput, ToolResultPart } from "../../model/part.ts";

/** The kind of a part, regardless of whether it is stored as a blob. */
export type PartKind = "text" | "blank" | "reasoning" | "call" | "result" | "media" | "raw";

/** A part as stored in the log, or as input. */
export type AnyPart = PartInput | ToolResultPart;

/** The kind of a part. Blank text is its own kind, because clients drop it at will. */
export function getPartKind(part: AnyPart): PartKind {
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

/** True for a part that was stored as a blob because of its size. */
export function isSpilled(part: AnyPart): part is BlobPart {
  return part.type === "blob" && part.of !== undefined;
}

/** The id of the call that a part makes or answers. */
export function getCallId(part: AnyPart): string | undefined {
  if (part.type === "tool-call" || part.type === "tool-result" || part.type === "blob") return part.callId;
  return undefined;
}

/** The parts of a tool's output. */
export function getOutputParts({
  output,
}: ToolResultInput | ToolResultPart): readonly Exclude<AnyPart, ToolResultInput | ToolResultPart>[] {
  return typeof output === "string" ? [{ type: "text", text: output }] : output;
}

/** Media input as base64; undefined if it is in another form. */
export function findBase64({ data }: DataPart): string | undefined {
  return typeof data === "string" ? data : undefined;
}
