import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { findFenceAt } from "../../../model/base/fence.ts";
import { QUOTE_SIGN } from "./render-summary.ts";
import { findSection, type SectionKey } from "./sections.ts";
import { buildSections, type SummaryItem, type SummarySections } from "./summary-sections.ts";

/** A parsed summary: its sections, which sections are present, and any text before the first. */
interface ParsedSummary {
  readonly sections: SummarySections;
  readonly present: ReadonlySet<SectionKey>;
  /** Text outside of all sections. */
  readonly rest: string;
}

const HEADING =
  /^\s{0,3}(?:#{1,6}\s+)?(?:\*\*|__)?(?:\d{1,2}[.)、]\s*)?(?:\*\*|__)?([^\n*_#:：]{2,60}?)(?:\*\*|__)?\s*[:：]?\s*(?:\*\*|__)?\s*$/;
const EMPTY = /^[-*•]?\s*\(?(?:none|nothing|n\/a|not applicable|无|没有|暂无)[^\p{L}\n]*$/iu;
const ITEM = /^\s*(?:[-*•]|\d{1,3}[.)、])\s+(?:([\w-]*#\d+(?:-\d+)?)\s)?(.*)$/;
const QUOTE_HEADING = /^\[([\w-]*#\d+(?:-\d+)?)(?: (.*))?\]$/;

/** Parses a summary, ours or a model's: headings of any level, numbered, bold or plain, in English or Chinese. */
export function parseSummary(text: string): ParsedSummary {
  const found = new Map<SectionKey, SummaryItem[]>();
  const rest: string[] = [];
  let items: SummaryItem[] | undefined;
  const lines = unwrapSummary(text).split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const fenced = findFenceAt("quoted-data", lines, at);
    if (fenced) {
      for (const quote of parseQuotes(fenced.inside)) items?.push(quote);
      at = fenced.end;
      continue;
    }
    const block = findCodeBlockEnd(lines, at);
    if (block !== undefined) {
      const code = lines.slice(at, block + 1).join("\n");
      if (items) items.push({ text: code });
      else rest.push(code);
      at = block;
      continue;
    }
    const key = parseHeading(line);
    if (key) {
      items = found.get(key) ?? [];
      found.set(key, items);
    } else if (line.trim() !== "" && !EMPTY.test(line.trim())) {
      if (items) items.push(parseItem(line));
      else rest.push(line);
    }
  }
  return {
    sections: buildSections((key) => found.get(key) ?? []),
    present: new Set(found.keys()),
    rest: rest.join("\n").trim(),
  };
}

/** Strips the wrappers and the leading reasoning that models put around a summary. */
export function unwrapSummary(text: string): string {
  const thought = text.replace(/^\s*<(analysis|thinking|scratchpad)>[\s\S]*?<\/\1>\s*/i, "");
  const whole = /^\s*<summary>\s*\n?([\s\S]*?)\s*(?:<\/summary>\s*)?$/i.exec(thought)?.[1] ?? thought;
  return (/^\s*```(?:markdown|md)?\n([\s\S]*?)\n```\s*$/.exec(whole)?.[1] ?? whole).replaceAll("\r\n", "\n");
}

function parseHeading(line: string): SectionKey | undefined {
  const name = line.length <= 80 ? HEADING.exec(line)?.[1] : undefined;
  return name === undefined ? undefined : findSection(name);
}

function findCodeBlockEnd(lines: readonly string[], at: number): number | undefined {
  const ticks = /^\s*(`{3,})/.exec(lines[at] as string)?.[1];
  if (ticks === undefined) return undefined;
  const end = lines.findIndex((line, index) => index > at && line.trim() === ticks);
  return end < 0 ? undefined : end;
}

function parseItem(line: string): SummaryItem {
  const [, cite, text] = ITEM.exec(line) ?? [];
  if (text === undefined) return { text: line.trim() };
  return cite === undefined ? { text } : { text, cite };
}

function parseQuotes(inside: readonly string[]): readonly SummaryItem[] {
  let cite: string | undefined;
  let label: string | undefined;
  const quotes: SummaryItem[] = [];
  // Summaries of earlier versions have no sign before their quotes.
  const hasSigns = inside.some((line) => line.startsWith(QUOTE_SIGN));
  for (const line of inside) {
    const isQuote = hasSigns && line.startsWith(QUOTE_SIGN);
    const heading = isQuote ? undefined : QUOTE_HEADING.exec(line);
    if (heading) {
      cite = heading[1];
      label = heading[2] || undefined;
    } else
      quotes.push({
        text: isQuote ? line.slice(QUOTE_SIGN.length) : line,
        isQuoted: true,
        ...dropUndefined({ cite, label }),
      });
  }
  return quotes;
}
