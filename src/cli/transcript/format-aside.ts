import type { Entry, EntryBody, Usage } from "../../index.ts";
import { type EditReason, readRetries } from "../../window-entry.ts";
import { escapeLine } from "../escape.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { describeEdit } from "./describe-edit.ts";
import { explainEdit } from "./explain-edit.ts";

type Aside = Exclude<EntryBody, { readonly kind: "message" | "raw" }>;

/** Formats an entry that is not a message on one line. */
export function formatAside(entry: Entry & Aside): string {
  return escapeLine(describeAside(entry));
}

function describeAside(entry: Aside): string {
  switch (entry.kind) {
    case "notice":
      return `note: ${entry.text}`;
    case "redacted":
      return `redacted ${entry.was}${entry.reason === undefined ? "" : `: ${entry.reason}`}`;
    case "damaged":
      return `damaged ${entry.was ?? "entry"}: ${entry.problem}`;
    case "line":
      return `line: ${entry.reason}; ${formatQuantity((entry.removed ?? entry.ranges).length, "range")}${entry.removed ? " left" : ""}`;
    case "usage":
      return `usage${entry.model === undefined ? "" : ` of ${entry.model}`}: ${formatUsage(entry.usage, readRetries(entry))}`;
    case "pin":
      return `${entry.isPinned ? "pinned" : "unpinned"} ${entry.target.session}#${entry.target.seq}`;
    case "task":
      return `task ${entry.task}: ${entry.note.type === "moved" ? entry.note.to : entry.note.type}`;
    case "overlay":
      return describeOverlay(entry);
  }
}

function formatUsage(usage: Usage, retries: number): string {
  const counts: readonly (readonly [number | undefined, string])[] = [
    [usage.inputTokens, "in"],
    [usage.outputTokens, "out"],
    [usage.cacheReadTokens, "read from cache"],
    [usage.cacheWriteTokens, "written to cache"],
    [usage.reasoningTokens, "for reasoning"],
  ];
  const tokens = counts.flatMap(([count, word]) => (count ? [`${formatCount(count)} ${word}`] : []));
  const cost = usage.cost === undefined ? [] : [`$${usage.cost.toFixed(4)}`];
  const again = retries === 0 ? [] : [`after ${formatCount(retries)} ${retries === 1 ? "retry" : "retries"}`];
  return [...tokens, ...cost, ...again].join(", ");
}

/** Describes an overlay. Figures come first, because the line may be cut at its end; author and reason follow. */
function describeOverlay(entry: Extract<Aside, { kind: "overlay" }>): string {
  const { author, edit, receipt } = entry;
  const left = receipt ? [`${formatQuantity(receipt.left.entries, "message")} removed`] : [];
  const figures = [...formatTokens(entry), ...left].map((figure) => `${figure}, `).join("");
  return `window: ${figures}${author} ${describeEdit(edit)} (${explainEdit(entry)})`;
}

function formatTokens({ tokensBefore, tokensAfter }: EditReason): readonly string[] {
  if (tokensBefore === undefined) return [];
  const after = tokensAfter === undefined ? "?" : formatCount(tokensAfter);
  return [`${formatCount(tokensBefore)} → ${after} tokens`];
}
