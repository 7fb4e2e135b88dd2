import type { Entry, OverlayBody, SessionId } from "../../index.ts";
import { formatAgo, formatTime } from "../ago.ts";
import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { formatChange } from "../tokens.ts";
import { editWords } from "../transcript/edit-words.ts";
import { wrapTo } from "../wrap.ts";
import { cite } from "./cite.ts";
import { receiptRows } from "./receipt-rows.ts";
import { type Row, rowLines } from "./rows.ts";
import { whyWords } from "./why.ts";

/** Options for printing overlays. */
export interface OverlayLook {
  readonly columns: number;
  readonly paint: Paint;
  readonly isFull: boolean;
  readonly now: number;
}

/** Formats an overlay with its receipt. */
export function overlayLines(
  entry: Entry<OverlayBody>,
  session: SessionId,
  look: OverlayLook,
): readonly string[] {
  const { columns, paint, isFull, now } = look;
  const at = entry.madeAt ?? entry.at;
  const when = `${formatTime(at)} (${formatAgo(at, now)})`;
  const head = `${cite(entry, session)} ${escapeLine(`${entry.author} ${editWords(entry.edit)}`)}`;
  return [
    ...wrapTo(head, columns).map((line) => paint("bold", line)),
    ...rowLines([["when", when], ["why", whyWords(entry)], ...figureRows(entry, isFull)], columns, paint),
  ];
}

/** Edits imported from other tools have no receipt, but often report their token counts. */
function figureRows({ receipt, tokensBefore, tokensAfter }: OverlayBody, isFull: boolean): readonly Row[] {
  if (receipt) return receiptRows(receipt, isFull);
  if (tokensBefore === undefined || tokensAfter === undefined) return [];
  return [["size", formatChange(tokensBefore, tokensAfter)]];
}
