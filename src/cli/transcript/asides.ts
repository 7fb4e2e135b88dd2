import type { EditReason, Entry, EntryBody, Usage } from "../../index.ts";
import { whyWords } from "../context/why.ts";
import { countOf, formatCount } from "../count.ts";
import { escapeLine } from "../escape.ts";
import { editWords } from "./edit-words.ts";

type Aside = Exclude<EntryBody, { readonly kind: "message" | "raw" }>;

/** Formats an entry that is not a message on one line. */
export function asideLine(entry: Entry & Aside): string {
  return escapeLine(words(entry));
}

function words(entry: Aside): string {
  switch (entry.kind) {
    case "notice":
      return `note: ${entry.text}`;
    case "redacted":
      return `redacted ${entry.was}${entry.reason === undefined ? "" : `: ${entry.reason}`}`;
    case "damaged":
      return `damaged ${entry.was ?? "entry"}: ${entry.problem}`;
    case "line":
      return `line: ${entry.reason}; ${countOf(entry.ranges.length, "range")}`;
    case "usage":
      return `usage${entry.model === undefined ? "" : ` of ${entry.model}`}: ${usageWords(entry.usage)}`;
    case "pin":
      return `${entry.isPinned ? "pinned" : "unpinned"} ${entry.target.session}#${entry.target.seq}`;
    case "task":
      return `task ${entry.task}: ${entry.note.type === "moved" ? entry.note.to : entry.note.type}`;
    case "overlay":
      return overlayWords(entry);
  }
}

function usageWords(usage: Usage): string {
  const counts: readonly (readonly [number | undefined, string])[] = [
    [usage.inputTokens, "in"],
    [usage.outputTokens, "out"],
    [usage.cacheReadTokens, "read from cache"],
    [usage.cacheWriteTokens, "written to cache"],
    [usage.reasoningTokens, "for reasoning"],
  ];
  const tokens = counts.flatMap(([count, word]) => (count ? [`${formatCount(count)} ${word}`] : []));
  return [...tokens, ...(usage.cost === undefined ? [] : [`$${usage.cost.toFixed(4)}`])].join(", ");
}

/** Describes an overlay. Figures come first, because the line may be cut at its end; author and reason follow. */
function overlayWords(entry: Extract<Aside, { kind: "overlay" }>): string {
  const { author, edit, receipt } = entry;
  const left = receipt ? [`${countOf(receipt.left.entries, "message")} removed`] : [];
  const figures = [...tokenWords(entry), ...left].map((figure) => `${figure}, `).join("");
  return `window: ${figures}${author} ${editWords(edit)} (${whyWords(entry)})`;
}

function tokenWords({ tokensBefore, tokensAfter }: EditReason): readonly string[] {
  if (tokensBefore === undefined) return [];
  const after = tokensAfter === undefined ? "?" : formatCount(tokensAfter);
  return [`${formatCount(tokensBefore)} → ${after} tokens`];
}
