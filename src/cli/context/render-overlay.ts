import type { Entry, SessionId } from "../../index.ts";
import type { OverlayBody } from "../../log-entry.ts";
import { escapeLine } from "../escape.ts";
import { formatAgo, formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { formatTokenChange } from "../tokens.ts";
import { describeEdit } from "../transcript/describe-edit.ts";
import { explainEdit } from "../transcript/explain-edit.ts";
import { wrapText } from "../wrap-text.ts";
import { citeEntry } from "./cite-entry.ts";
import { type LabeledRow, renderRows } from "./labeled-row.ts";
import { buildReceiptRows } from "./receipt-rows.ts";

/** Options for printing overlays. */
export interface OverlayPrintOptions {
  readonly columns: number;
  readonly paint: Paint;
  readonly isFull: boolean;
  readonly now: number;
}

/** Formats an overlay with its receipt. */
export function renderOverlay(
  entry: Entry<OverlayBody>,
  session: SessionId,
  look: OverlayPrintOptions,
): readonly string[] {
  const { columns, paint, isFull, now } = look;
  const at = entry.madeAt ?? entry.at;
  const when = `${formatTime(at)} (${formatAgo(at, now)})`;
  const head = `${citeEntry(entry, session)} ${escapeLine(`${entry.author} ${describeEdit(entry.edit)}`)}`;
  return [
    ...wrapText(head, columns).map((line) => paint("bold", line)),
    ...renderRows(
      [["when", when], ["why", explainEdit(entry)], ...buildFigureRows(entry, isFull)],
      columns,
      paint,
    ),
  ];
}

/** Edits imported from other tools have no receipt, but often report their token counts. */
function buildFigureRows(
  { receipt, tokensBefore, tokensAfter }: OverlayBody,
  isFull: boolean,
): readonly LabeledRow[] {
  if (receipt) return buildReceiptRows(receipt, isFull);
  if (tokensBefore === undefined || tokensAfter === undefined) return [];
  return [["size", formatTokenChange(tokensBefore, tokensAfter)]];
}
