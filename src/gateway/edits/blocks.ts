import type { JsonObject } from "../api/api.ts";

/** A part of a message's content as it is written. */
export type Block = JsonObject;

/** The blocks of a message; a text alone is one block. */
export function blocksOf({ content }: JsonObject): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** True for a model's thoughts, which nobody may change. */
export function isThinking({ type }: Block): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** True for a text that says nothing: providers refuse it. */
export function isEmptyText({ type, text }: Block): boolean {
  return type === "text" && (typeof text !== "string" || text.trim() === "");
}

/** True for a plain object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
