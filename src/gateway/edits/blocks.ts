import type { JsonObject } from "../api/api.ts";

/** A part of a message's content in wire format. */
export type Block = JsonObject;

/** The blocks of a message; a plain text counts as one block. */
export function blocksOf({ content }: JsonObject): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** True for reasoning of a model, which must not be changed. */
export function isThinking({ type }: Block): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** True for a blank text block, which providers refuse. */
export function isEmptyText({ type, text }: Block): boolean {
  return type === "text" && (typeof text !== "string" || text.trim() === "");
}

/** True for a plain object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
