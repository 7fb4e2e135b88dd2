import type { ClientBlock } from "../editing/client-blocks.ts";
import { toArray, toObject } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { decodeChatElement } from "./decode-chat.ts";
import { decodeAudio } from "./openai-chat-media-fields.ts";

/** A piece of a message, and the field that contains it. */
export interface ChatPiece extends ClientBlock {
  readonly field:
    | "reasoning"
    | "content"
    | "refusal"
    | "tool_calls"
    | "function_call"
    | "images"
    | "audio"
    | "result";
}

/** The pieces of a message in the order of its parts. */
export function splitChatMessage(element: WireObject | undefined): readonly ChatPiece[] {
  if (!element) return [];
  const { parts = [] } = decodeChatElement(element);
  const [only] = parts;
  if (only?.type === "tool-result") return [{ part: only, block: element, field: "result" }];
  const calls = toArray(element.tool_calls);
  const legacy = toObject(element.function_call);
  const isOfModel = element.role === "assistant";
  const behind: Omit<ChatPiece, "part">[] = [
    ...(typeof element.refusal === "string" ? [{ block: element.refusal, field: "refusal" as const }] : []),
    ...calls.map((block) => ({ block, field: "tool_calls" as const })),
    ...(legacy ? [{ block: legacy, field: "function_call" as const }] : []),
    ...(isOfModel ? toArray(element.images) : []).map((block) => ({ block, field: "images" as const })),
    ...decodeAudio(element).map(() => ({ block: element.audio, field: "audio" as const })),
  ];
  const content = getContentBlocks(element, calls.length > 0 || legacy !== undefined);
  const hasReasoning = parts.length > content.length + behind.length;
  const before: Omit<ChatPiece, "part">[] = [
    ...(hasReasoning ? [{ block: undefined, field: "reasoning" as const }] : []),
    ...content.map((block) => ({ block, field: "content" as const })),
  ];
  const places = [...before, ...behind];
  return parts.flatMap((part, index) => {
    const place = places[index];
    return place ? [{ part, ...place }] : [];
  });
}

function getContentBlocks({ content }: WireObject, isCalling: boolean): readonly unknown[] {
  if (typeof content !== "string") return toArray(content);
  return isCalling && content === "" ? [] : [{ type: "text", text: content }];
}
