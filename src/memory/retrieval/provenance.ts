import type { Hit } from "../hit.ts";
import { harmlessName } from "./harmless.ts";

/** How a hit is named so that it can be expanded: an entry by its id, a file by path and lines. */
export function referenceOf(hit: Hit): string {
  return hit.kind === "session"
    ? harmlessName(hit.entry)
    : `${harmlessName(hit.path)}:${hit.lines.first}-${hit.lines.last}`;
}

/** Where a hit comes from, who said it and when, on one line. */
export function provenanceOf(hit: Hit): string {
  const when = momentOf(hit.at);
  if (hit.kind === "file")
    return `file ${harmlessName(hit.path)}, lines ${hit.lines.first}-${hit.lines.last}, changed ${when}`;
  return `session ${harmlessName(hit.session)}, entry ${referenceOf(hit)}, ${whoSaid(hit)}, ${when}`;
}

/** Who said it, in words. */
export function whoSaid(hit: Hit): string {
  if (hit.kind === "file") return "file";
  const who = { user: "user", assistant: "assistant", tool: "tool output", none: "summary or instructions" }[
    hit.author
  ];
  return hit.speaker === null ? who : `${harmlessName(hit.speaker, 60)} (${who})`;
}

/** Day and time of day, in UTC: the same words wherever they are read. */
export function momentOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime())
    ? "at an unknown time"
    : `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
