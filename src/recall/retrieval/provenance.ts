import type { HistoryPlace } from "../../model/session-origin.ts";
import type { Hit } from "../hit.ts";
import type { MemoryTrust } from "../memories/memory-trust.ts";
import { sanitizeName } from "../text/sanitize-text.ts";

/** The reference by which a hit can be expanded: the id of an entry, or path and lines of a file. */
export function formatReference(hit: Hit): string {
  return hit.kind === "session"
    ? sanitizeName(hit.entry)
    : `${sanitizeName(hit.path)}:${hit.lines.first}-${hit.lines.last}`;
}

/** The origin, author and time of a hit, on one line. */
export function formatProvenance(hit: Hit): string {
  const when = formatMoment(hit.at);
  if (hit.kind === "file")
    return `file ${sanitizeName(hit.path)}, lines ${hit.lines.first}-${hit.lines.last}, changed ${when}`;
  const place = hit.place && PLACES[hit.place];
  const origin = place === undefined ? "" : `, ${place}`;
  return `session ${sanitizeName(hit.session)}, entry ${formatReference(hit)}, ${formatAuthor(hit)}, ${when}${origin}`;
}

/** The places of histories that somebody else may have written, in words. */
export const PLACES: Readonly<Partial<Record<HistoryPlace, string>>> = {
  "working-tree": "imported from a working tree, whoever wrote it",
  elsewhere: "imported from outside of the agents' folders",
};

const MEMORY_AUTHORS: Readonly<Record<MemoryTrust, string>> = {
  user: "memory of the user",
  agent: "note of an agent",
  quoted: "quote noted by an agent",
  rejected: "note that the user rejected",
};

/** The author of a hit, in words. */
export function formatAuthor(hit: Hit): string {
  if (hit.kind === "file") return "file";
  if (hit.memory) return MEMORY_AUTHORS[hit.memory.trust];
  const who = { user: "user", assistant: "assistant", tool: "tool output", none: "summary or instructions" }[
    hit.author
  ];
  const isAlsoUser = hit.author !== "user" && hit.copies?.some(({ author }) => author === "user");
  const all = isAlsoUser ? `${who}, also user` : who;
  return hit.speaker === null ? all : `${sanitizeName(hit.speaker, 60)} (${all})`;
}

/** Date and time in UTC, the same for every reader. */
export function formatMoment(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime())
    ? "at an unknown time"
    : `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
