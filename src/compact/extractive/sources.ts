import type { SummaryLine } from "../contract/render-summary.ts";
import { citeOf, type Told } from "./told.ts";

/** Where a line of a summary comes from. */
export interface LineSource {
  /** Index of the line in the text. */
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** The seqs behind the lines of a summary that cite any; also those that an earlier summary cited. */
export function sourcesOf(lines: readonly SummaryLine[], messages: readonly Told[]): readonly LineSource[] {
  const seqs = new Map(messages.map((told) => [citeOf(told), told.seq]));
  return lines.flatMap(({ item }, line): readonly LineSource[] => {
    if (item?.cite === undefined) return [];
    const known = seqs.get(item.cite);
    if (known !== undefined) return [{ line, from: known, to: known }];
    const [, from, to] = /^#(\d+)(?:-(\d+))?$/.exec(item.cite) ?? [];
    return from === undefined ? [] : [{ line, from: Number(from), to: Number(to ?? from) }];
  });
}
