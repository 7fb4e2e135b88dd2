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

const TITLE = "[Extract of earlier steps";

/** Inserts the chosen lines as notes, each in the gap that its lines come from. */
export function insertNotes(
  shown: readonly Slot[],
  lines: readonly ExtractLine[],
  tokensOf: TokenEstimator,
): readonly Slot[] {
  const sorted = lines.toSorted((a, b) => a.source.seq - b.source.seq || a.order - b.order);
  const window: Slot[] = [];
  let next = 0;
  let isFirst = true;
  for (const slot of [...shown, undefined]) {
    const from = next;
    while (next < sorted.length && (!slot || (sorted[next] as ExtractLine).source.seq < slot.seq)) next++;
    if (next > from) {
      const at = (slot ?? shown.at(-1))?.at ?? 0;
      window.push(buildNote(sorted.slice(from, next), isFirst, at, tokensOf));
      isFirst = false;
    }
    if (slot) window.push(slot);
  }
  return window;
}

/** The text of a message that leaves the window, as a line of the extract; it stays whole. */
export function toQuotedLine({ seq, cite = `#${seq}`, message }: Slot): ExtractLine {
  const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return { text: `${text}\n`, source: { seq, cite, heading: message.role }, order: -1 };
}

/** True for a note that contains an extract; each rebuild writes it again. */
export function isExtract({ isNote, message }: Slot): boolean {
  const [part] = message.parts;
  return isNote === true && part?.type === "text" && part.text.startsWith(TITLE);
}

/** Only the first note explains how to see the rest. */
function buildNote(
  lines: readonly ExtractLine[],
  isFirst: boolean,
  at: number,
  tokensOf: TokenEstimator,
): Slot {
  const { seq, cite } = (lines[0] as ExtractLine).source;
  const title = isFirst
    ? `${TITLE}, lines verbatim; "expand ${cite}" shows entry ${cite} whole]`
    : `${TITLE}]`;
  const texts = [title];
  let source: QuoteSource | undefined;
  for (const line of lines) {
    if (line.source.seq !== source?.seq) texts.push(`[${line.source.cite} ${line.source.heading}]`);
    source = line.source;
    if (line.text !== "") texts.push(line.text.slice(0, -1));
  }
  const message: Message = { role: "user", parts: [{ type: "text", text: texts.join("\n") }] };
  return { seq, at, message, tokens: tokensOf(message), isNote: true };
}
