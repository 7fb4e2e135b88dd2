import { SECTION_KEYS, type SectionKey } from "./sections.ts";

/** One item of a summary. */
export interface SummaryItem {
  readonly text: string;
  /** Citation of the source entry, such as `#12`. */
  readonly cite?: string;
  /** True for a line quoted as data, which is rendered inside the fence of its section. */
  readonly isQuoted?: boolean;
  /** Source of the quoted line: a tool and a file. */
  readonly label?: string;
}

/** A parsed summary. */
export type SummarySections = Readonly<Record<SectionKey, readonly SummaryItem[]>>;

/** Builds sections from the items that `itemsOf` returns for each. */
export function buildSections(itemsOf: (key: SectionKey) => readonly SummaryItem[]): SummarySections {
  return Object.fromEntries(SECTION_KEYS.map((key) => [key, itemsOf(key)])) as Record<
    SectionKey,
    readonly SummaryItem[]
  >;
}
