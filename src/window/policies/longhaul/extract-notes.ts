import type { Message } from "../../../model/message.ts";
import type { TokenEstimator } from "../../apply-edits.ts";
import type { QuoteSource } from "../../extract/line-list.ts";
import type { Slot } from "../../slot.ts";

/** A line chosen to return to the window. */
export interface ExtractLine {
  /** Ends with a line break; empty if the extract only names the message. */
  readonly text: string;
  readonly source: QuoteSource;
  /** Increases within a message. */
  readonly order: number;
}

/** A message of the conversation, shown or not. */
export type SaidMessage = Pick<Slot, "seq" | "cite" | "at">;

const PATHS_HEADING = "and later steps: files and folders";
const TITLE = "[Extract of earlier steps";
const GAP = /^\[(?:more than )?\d+ messages? left out: /;

/**
 * Marks each gap between the shown messages with a note that counts the missing ones, followed by the lines that were
 * chosen from them. `said` are the messages of the conversation in order; `isCut` is true if there were more before them.
 */
export function insertNotes(
  shown: readonly Slot[],
  lines: readonly ExtractLine[],
  { said, isCut }: { readonly said: readonly SaidMessage[]; readonly isCut: boolean },
  tokensOf: TokenEstimator,
): readonly Slot[] {
  const sorted = lines.toSorted((a, b) => a.source.seq - b.source.seq || a.order - b.order);
  const shownSeqs = new Set(shown.map(({ seq }) => seq));
  const window: Slot[] = [];
  let nextLine = 0;
  let nextSaid = 0;
  let isFirst = true;
  for (const slot of [...shown, undefined]) {
    const from = nextLine;
    while (nextLine < sorted.length && (!slot || (sorted[nextLine] as ExtractLine).source.seq < slot.seq))
      nextLine++;
    const missing: SaidMessage[] = [];
    for (; nextSaid < said.length; nextSaid++) {
      const message = said[nextSaid] as SaidMessage;
      if (slot && message.seq >= slot.seq) break;
      if (!shownSeqs.has(message.seq)) missing.push(message);
    }
    const quoted = sorted.slice(from, nextLine);
    if (missing.length > 0 || quoted.length > 0) {
      const at = (slot ?? shown.at(-1))?.at ?? 0;
      const gap = describeGap(missing, isCut && isFirst);
      window.push(buildNote(gap, quoted, { isFirst, at, seq: missing[0]?.seq }, tokensOf));
      isFirst = false;
    }
    if (slot) window.push(slot);
  }
  return window;
}

/** Number of gaps between shown messages. */
export function countGaps(shown: readonly Slot[], said: readonly SaidMessage[]): number {
  const shownSeqs = new Set(shown.map(({ seq }) => seq));
  let gaps = 0;
  let isMissing = false;
  for (const { seq } of said) {
    const isGone = !shownSeqs.has(seq);
    if (isGone && !isMissing) gaps++;
    isMissing = isGone;
  }
  return gaps;
}

/** The text of a message that leaves the window, as a line of the extract; it stays whole. */
export function toQuotedLine({ seq, cite = `#${seq}`, at, message }: Slot): ExtractLine {
  const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text: `${text}\n`, source: { seq, cite, heading: `${message.role}, ${toDay(at)}` }, order: -1 };
}

/** Tells whether the shown messages or the lines of an extract contain a text. */
export function findNamedIn(
  shown: readonly Slot[],
  lines: readonly ExtractLine[],
): (text: string) => boolean {
  const messages = shown.map(({ message }) => JSON.stringify(message.parts));
  const named = [...messages, ...lines.flatMap(({ text, source }) => [text, source.heading])].join("\n");
  return (text) => named.includes(text);
}

/** A line with the paths of files that nothing else names any more: the next call may need one. */
export function toPathsLine(paths: readonly string[], removed: readonly Slot[]): readonly ExtractLine[] {
  const [first] = removed;
  if (paths.length === 0 || !first) return [];
  const { seq, cite = `#${seq}` } = first;
  return [{ text: `${paths.join("\n")}\n`, source: { seq, cite, heading: PATHS_HEADING }, order: -2 }];
}

/** True for a note that marks a gap or contains an extract; each rebuild writes it again. */
export function isExtract({ isNote, message }: Slot): boolean {
  const [part] = message.parts;
  return isNote === true && part?.type === "text" && (part.text.startsWith(TITLE) || GAP.test(part.text));
}

/** "14 messages left out: #31–#44, 2026-03-02"; undefined if nothing is missing. */
function describeGap(missing: readonly SaidMessage[], isCut: boolean): string | undefined {
  const [first] = missing;
  const last = missing.at(-1);
  if (!first || !last) return undefined;
  const count = `${isCut ? "more than " : ""}${missing.length} ${missing.length === 1 && !isCut ? "message" : "messages"}`;
  const places = first === last ? citeOf(first) : `${citeOf(first)}–${citeOf(last)}`;
  const days = [toDay(first.at), toDay(last.at)];
  return `${count} left out: ${places}, ${days[0] === days[1] ? days[0] : `${days[0]} to ${days[1]}`}`;
}

/** Only the first note with lines explains how to see the rest. */
function buildNote(
  gap: string | undefined,
  lines: readonly ExtractLine[],
  { isFirst, at, seq }: { readonly isFirst: boolean; readonly at: number; readonly seq: number | undefined },
  tokensOf: TokenEstimator,
): Slot {
  const place = seq ?? lines[0]?.source.seq ?? 0;
  const cite = lines[0]?.source.cite;
  const hint =
    isFirst && cite ? `; lines below are verbatim, "expand ${cite}" shows entry ${cite} whole` : "";
  const texts = [gap === undefined ? `${TITLE}${hint}]` : `[${gap}${hint}]`];
  let source: QuoteSource | undefined;
  for (const line of lines) {
    if (line.source.seq !== source?.seq || line.source.heading !== source.heading)
      texts.push(`[${line.source.cite} ${line.source.heading}]`);
    source = line.source;
    if (line.text !== "") texts.push(line.text.slice(0, -1));
  }
  const message: Message = { role: "user", parts: [{ type: "text", text: texts.join("\n") }] };
  return {
    seq: Math.min(place, lines[0]?.source.seq ?? place),
    at,
    message,
    tokens: tokensOf(message),
    isNote: true,
  };
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function citeOf({ seq, cite = `#${seq}` }: SaidMessage): string {
  return cite;
}
