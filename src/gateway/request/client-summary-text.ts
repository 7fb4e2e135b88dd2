import { computeDigest } from "../../base/digest.ts";
import type { WireObject } from "../../wire/wire.ts";

/** A summary as a user message, which every provider accepts. */
export function buildSummaryElement(content: string): WireObject {
  return { role: "user", content };
}

/** A key that is equal for summaries that differ only in white space. */
export function buildSummaryKey(text: string): string {
  return computeDigest(text.replace(/\s+/g, " ").trim(), 32);
}
