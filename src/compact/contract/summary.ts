import { SECTION_KEYS, type SectionKey } from "./sections.ts";

/** One thing that a summary says. */
export interface SummaryItem {
  readonly text: string;
  /** How the entry it comes from is cited, such as `#12`. */
  readonly cite?: string;
  /** True for a line of somebody's words that are only data: it stands inside the fence of its section. */
  readonly isQuoted?: boolean;
  /** What the quoted line stands in: a tool and a file. */
  readonly label?: string;
}

/** A summary taken apart. */
export type SummarySections = Readonly<Record<SectionKey, readonly SummaryItem[]>>;

/** Sections with what `itemsOf` gives for each. */
export function sectionsFrom(itemsOf: (key: SectionKey) => readonly SummaryItem[]): SummarySections {
  return Object.fromEntries(SECTION_KEYS.map((key) => [key, itemsOf(key)])) as Record<
    SectionKey,
    readonly SummaryItem[]
  >;
}
