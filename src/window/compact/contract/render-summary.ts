import { SECTIONS, type SectionKey } from "./sections.ts";
import { fenceSummaryText } from "./summary-fence.ts";
import type { SummaryItem, SummarySections } from "./summary-sections.ts";

/** Text of a section without items. */
export const NOTHING = "None.";

/** One line of a summary and the item it shows; headings and delimiters have none. */
export interface SummaryLine {
  readonly text: string;
  readonly item?: SummaryItem;
}

/** Stands before each quoted line, so that no quoted line can pass for a heading or an item of the summary. */
export const QUOTE_SIGN = "| ";

/** Renders a summary: all sections in order, each with its plain items first and then its quotes inside a fence. */
export function renderSummary(sections: SummarySections): string {
  return renderSummaryLines(sections)
    .map(({ text }) => text)
    .join("\n");
}

/** Renders a summary line by line. */
export function renderSummaryLines(sections: SummarySections): readonly SummaryLine[] {
  return SECTIONS.flatMap(({ key, heading }) => [{ text: `## ${heading}` }, ...renderSection(sections, key)]);
}

/** The text of an item in a rendered summary. */
export function renderItem(item: SummaryItem): string {
  if (item.isQuoted) return `${QUOTE_SIGN}${item.text.replaceAll("\n", " ")}`;
  if (item.text.includes("\n")) return item.text;
  return `- ${item.cite === undefined ? "" : `${item.cite} `}${item.text}`;
}

/** The line that names the source of the quoted lines below it. */
function renderQuoteHeading({ cite, label }: SummaryItem): string {
  return `[${[cite, label].filter(Boolean).join(" ")}]`;
}

function renderSection(sections: SummarySections, key: SectionKey): readonly SummaryLine[] {
  const items = sections[key];
  if (items.length === 0) return [{ text: NOTHING }];
  const plain = items.filter(({ isQuoted }) => !isQuoted);
  const quoted = items.filter(({ isQuoted }) => isQuoted);
  return [
    ...plain.flatMap((item) =>
      renderItem(item)
        .split("\n")
        .map((text) => ({ text, item })),
    ),
    ...(quoted.length === 0 ? [] : renderQuotes(quoted)),
  ];
}

function renderQuotes(quoted: readonly SummaryItem[]): readonly SummaryLine[] {
  const inside: SummaryLine[] = [];
  let heading = "";
  for (const item of quoted) {
    if (renderQuoteHeading(item) !== heading) {
      heading = renderQuoteHeading(item);
      inside.push({ text: heading });
    }
    inside.push({ text: renderItem(item), item });
  }
  const fenced = fenceSummaryText("quoted-data", inside.map(({ text }) => text).join("\n")).split("\n");
  return fenced.map((text, index) => {
    const item = inside[index - 1]?.item;
    return item ? { text, item } : { text };
  });
}
