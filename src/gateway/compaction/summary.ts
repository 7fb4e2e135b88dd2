import { hash } from "node:crypto";
import type { JsonObject } from "../api/api.ts";

/** A summary as a user message, which every provider accepts. */
export function summaryElement(content: string): JsonObject {
  return { role: "user", content };
}

/** A key that is equal for summaries that differ only in white space. */
export function summaryKey(text: string): string {
  return hash("sha256", text.replace(/\s+/g, " ").trim()).slice(0, 32);
}
