import type { Entry, EntryBody, Usage } from "../../index.ts";
import { formatCount } from "../count.ts";
import { escapeLine } from "../escape.ts";

type Aside = Exclude<EntryBody, { readonly kind: "message" | "raw" }>;

/** What an entry for people or for the books says, in one line. */
export function asideLine(entry: Entry & Aside): string {
  return escapeLine(words(entry));
}

function words(entry: Aside): string {
  switch (entry.kind) {
    case "notice":
      return `note: ${entry.text}`;
    case "redacted":
      return `redacted ${entry.was}${entry.reason === undefined ? "" : `: ${entry.reason}`}`;
    case "line":
      return `line: ${entry.reason}; ${formatCount(entry.ranges.length)} range(s)`;
    case "usage":
      return `usage${entry.model === undefined ? "" : ` of ${entry.model}`}: ${usageWords(entry.usage)}`;
    case "overlay":
      return `window: ${entry.author} ${editWords(entry)} (${entry.reason})${tokenWords(entry)}`;
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

function editWords({ edit }: Extract<Aside, { kind: "overlay" }>): string {
  switch (edit.type) {
    case "replace":
      return "callId" in edit.target
        ? `replaced the result of ${edit.target.callId}`
        : `replaced content of #${edit.target.seq}`;
    case "hide":
      return `hid ${rangeWords(edit.ranges)}`;
    case "summarize":
      return `summarized ${rangeWords(edit.ranges)}`;
    case "revert":
      return `took back the change at #${edit.overlay}`;
  }
}

function rangeWords(ranges: readonly { readonly from: number; readonly to: number }[]): string {
  const [first] = ranges;
  if (!first) return "nothing";
  const more = ranges.length > 1 ? ` and ${ranges.length - 1} more` : "";
  return `#${first.from} to #${first.to}${more}`;
}

function tokenWords({ tokensBefore, tokensAfter }: Extract<Aside, { kind: "overlay" }>): string {
  if (tokensBefore === undefined) return "";
  const after = tokensAfter === undefined ? "?" : formatCount(tokensAfter);
  return `, ${formatCount(tokensBefore)} → ${after} tokens`;
}
