import type { Hit } from "../hit.ts";
import { harmlessName } from "./harmless.ts";

/** The reference by which a hit can be expanded: the id of an entry, or path and lines of a file. */
export function referenceOf(hit: Hit): string {
  return hit.kind === "session"
    ? harmlessName(hit.entry)
    : `${harmlessName(hit.path)}:${hit.lines.first}-${hit.lines.last}`;
}

/** The origin, author and time of a hit, on one line. */
export function provenanceOf(hit: Hit): string {
  const when = momentOf(hit.at);
  if (hit.kind === "file")
    return `file ${harmlessName(hit.path)}, lines ${hit.lines.first}-${hit.lines.last}, changed ${when}`;
  return `session ${harmlessName(hit.session)}, entry ${referenceOf(hit)}, ${whoSaid(hit)}, ${when}`;
}

/** The author of a hit, in words. */
export function whoSaid(hit: Hit): string {
  if (hit.kind === "file") return "file";
  const who = { user: "user", assistant: "assistant", tool: "tool output", none: "summary or instructions" }[
    hit.author
  ];
  return hit.speaker === null ? who : `${harmlessName(hit.speaker, 60)} (${who})`;
}

/** Date and time in UTC, the same for every reader. */
export function momentOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime())
    ? "at an unknown time"
    : `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
