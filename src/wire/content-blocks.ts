import type { WireObject } from "./wire.ts";

/** A part of a message's content in wire format. */
export type ContentBlock = WireObject;

/** The blocks of a message; a plain text counts as one block. */
export function getContentBlocks({ content }: WireObject): readonly ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** True for reasoning of a model, which must not be changed. */
export function isThinking({ type }: ContentBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** True for a blank text block, which providers refuse. */
export function isEmptyText({ type, text }: ContentBlock): boolean {
  return type === "text" && (typeof text !== "string" || text.trim() === "");
}

/** True for a plain object. */
export function isObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
