import { hash } from "node:crypto";
import type { JsonObject } from "../api/api.ts";

/** A summary as words that every provider takes. */
export function summaryElement(content: string): JsonObject {
  return { role: "user", content };
}

/** The same for summaries that say the same, whatever a client has done to white space. */
export function summaryKey(text: string): string {
  return hash("sha256", text.replace(/\s+/g, " ").trim()).slice(0, 32);
}
