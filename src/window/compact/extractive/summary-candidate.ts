import type { RecordedMessage } from "../../replay/recorded-message.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { withoutControlTokens } from "../contract/sanitize-summary.ts";
import type { SectionKey } from "../contract/sections.ts";
import type { SummaryItem } from "../contract/summary-sections.ts";

/** A possible item of a section. */
export interface SummaryCandidate {
  readonly item: SummaryItem;
  /** Lower ranks are chosen first. */
  readonly rank: number;
}

/** The candidates of each section, in display order. */
export type SectionCandidates = Readonly<Record<SectionKey, readonly SummaryCandidate[]>>;

/** Drops candidates that a later one repeats. */
export function dropRepeats(candidates: readonly SummaryCandidate[]): readonly SummaryCandidate[] {
  const seen = new Set<string>();
  return candidates
    .toReversed()
    .filter(({ item }) => {
      const words = item.text.toLowerCase().replace(/[\s"'`.,;:!?。，；：！？]+/g, " ");
      if (seen.has(words)) return false;
      seen.add(words);
      return true;
    })
    .toReversed();
}

/** A message to summarize; slots of a window qualify. */
export interface SourceMessage extends RecordedMessage {
  /** Citation, if it is not `#<seq>`. */
  readonly cite?: string | undefined;
  /**
   * True for an extract or an earlier summary, which nobody wrote. Its lines may be quoted but are not used otherwise.
   */
  readonly isNote?: boolean | undefined;
}

export function citeOf({ cite, seq }: Pick<SourceMessage, "cite" | "seq">): string {
  return cite ?? `#${seq}`;
}

const MAX_CHARACTERS = 20_000;

/** Reduces a text to one line of at most `tokens`, dropping the middle if it is too long. */
export function clipLine(text: string, tokens: number): string {
  const line = withoutControlTokens(text.slice(0, MAX_CHARACTERS).replace(/\s+/g, " ").trim());
  const taken = estimateText(line);
  if (taken <= tokens) return line;
  const characters = Math.max(8, Math.floor((line.length * tokens) / taken) - 3);
  const head = Math.ceil(characters * 0.75);
  const tail = characters - head;
  const end = tail > 0 ? line.slice(-tail).toWellFormed() : "";
  return `${line.slice(0, head).toWellFormed().trimEnd()} … ${end.trimStart()}`;
}

/** Like `clipLine`, in quotation marks. */
export function quoteLine(text: string, tokens: number): string {
  return `"${clipLine(text, tokens)}"`;
}

/** Like `clipLine`, as inline code. */
export function toInlineCode(text: string, tokens: number): string {
  return `\`${clipLine(text, tokens).replaceAll("`", "'")}\``;
}
