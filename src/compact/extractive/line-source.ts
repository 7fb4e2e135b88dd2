import type { SummaryLine } from "../contract/render-summary.ts";
import { citeOf, type SourceMessage } from "./source-message.ts";

/** The source entries of a summary line. */
export interface LineSource {
  /** Index of the line in the text. */
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** The seqs cited by the lines of a summary, including those that an earlier summary cited. */
export function findLineSources(
  lines: readonly SummaryLine[],
  messages: readonly SourceMessage[],
): readonly LineSource[] {
  const seqs = new Map(messages.map((told) => [citeOf(told), told.seq]));
  return lines.flatMap(({ item }, line): readonly LineSource[] => {
    if (item?.cite === undefined) return [];
    const known = seqs.get(item.cite);
    if (known !== undefined) return [{ line, from: known, to: known }];
    const [, from, to] = /^#(\d+)(?:-(\d+))?$/.exec(item.cite) ?? [];
    return from === undefined ? [] : [{ line, from: Number(from), to: Number(to ?? from) }];
  });
}
