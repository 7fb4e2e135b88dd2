import type { BlobPart, Part, ToolResultPart } from "../model/part.ts";
import { findRawAnswerId, findRawCallId, listLoadedTools } from "../model/raw-calls.ts";
import { clipText } from "./clip-text.ts";
import { isSealedPart } from "./protected-seqs.ts";

/** A part that stands in for a longer one. */
export type ClippedPart = Part;

type Output = ToolResultPart["output"][number];

/** True if a part can be shortened: its text is longer than `characters`, or it is media. */
export function isClippable(part: Part, characters: number): boolean {
  if (isBound(part) || part.type === "reasoning") return false;
  if (part.type === "blob") {
    if (part.of === "reasoning") return false;
    return part.of === undefined || countCharacters(part) > characters;
  }
  if (part.type === "tool-result" && part.output.some(isMedia)) return true;
  return countCharacters(part) > characters;
}

/** Characters of text in a part; for a part stored as a blob, its size in bytes as an approximation. */
export function countCharacters(part: Part): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text.length;
    case "tool-result":
      return part.output.reduce((sum, inner) => sum + countCharacters(inner), 0);
    case "tool-call":
      return JSON.stringify(part.input).length;
    case "raw":
      return JSON.stringify(part.value).length;
    case "blob":
      return part.of === undefined ? 0 : (part.shownCharacters ?? part.sizeBytes);
  }
}

/** Clips the text of a part to about `characters`; a notice replaces media. */
export function clipPartTo(part: Part, characters: number): ClippedPart {
  switch (part.type) {
    case "tool-result":
      return { ...part, output: clipOutput(part.output, characters) };
    case "tool-call":
      return { ...part, input: { cut: clipText(JSON.stringify(part.input), characters) } };
    case "blob":
      return clipBlob(part, characters);
    case "raw":
      return { type: "text", text: clipText(JSON.stringify(part.value), characters) };
    default:
      return { type: "text", text: clipText(part.text, characters) };
  }
}

/** Each text of an output keeps its proportional share of the characters. */
function clipOutput(output: ToolResultPart["output"], characters: number): ToolResultPart["output"] {
  const all = output.reduce((sum, inner) => sum + countCharacters(inner), 0);
  const share = all <= characters ? 1 : characters / all;
  return output.map((inner): Output => {
    if (isMedia(inner)) return { type: "text", text: "[image removed]" };
    const own = countCharacters(inner);
    return share === 1 ? inner : (clipPartTo(inner, Math.floor(own * share)) as Output);
  });
}

/** Text in a blob is clipped when it is loaded; only the preview of other large parts is available here. */
function clipBlob(part: BlobPart, characters: number): Part {
  if (part.of === "text") return { ...part, shownCharacters: characters };
  if (part.of === undefined) return { type: "text", text: "[image removed]" };
  const text = [clipText(part.preview ?? "", characters), "[the rest was cut]"].join("\n");
  if (part.of === "tool-call" && part.callId !== undefined)
    return { type: "tool-call", callId: part.callId, name: part.toolName ?? "unknown", input: { cut: text } };
  return { type: "text", text };
}

function isMedia(part: Part): boolean {
  return part.type === "blob" && part.of === undefined;
}

/** True for a raw call, its answer, a summary that only its provider can read, or the result of a search for tools. */
function isBound(part: Part): boolean {
  if (findRawCallId(part) !== undefined || findRawAnswerId(part) !== undefined) return true;
  return isSealedPart(part) || listLoadedTools(part).length > 0;
}
