import type { SessionId } from "../../index.ts";
import type { ListedOverlay } from "../../window-entry.ts";
import { escapeLine } from "../escape.ts";
import { formatTime } from "../format-time.ts";
import type { Paint } from "../paint.ts";
import { type Column, renderTable } from "../table.ts";
import { formatTokenChange } from "../tokens.ts";
import { describeEdit } from "../transcript/describe-edit.ts";
import { fitText } from "../width.ts";
import { citeEntry } from "./cite-entry.ts";

const COLUMNS: readonly Column[] = [
  { title: "overlay", look: "cyan", shrinks: "last" },
  { title: "created", shrinks: "last" },
  { title: "edit", shrinks: "first" },
  { title: "window", shrinks: "last" },
  { title: "" },
];

/** Formats overlays as a table, newest first, with their standing. */
export function renderOverlayTable(
  listed: readonly ListedOverlay[],
  session: SessionId,
  look: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  if (listed.length === 0) return ["No overlays: the window matches the log."];
  const rows = listed.map(({ entry }, index) => [
    citeEntry(entry, session),
    formatTime(entry.madeAt ?? entry.at),
    `${entry.author} ${describeEdit(entry.edit)} (${entry.reason})`,
    entry.tokensBefore === undefined || entry.tokensAfter === undefined
      ? ""
      : formatTokenChange(entry.tokensBefore, entry.tokensAfter),
    describeStanding(index, listed),
  ]);
  return renderTable(COLUMNS, rows, look);
}

/** Lists the edits of one overlay with the numbers that --edit takes. */
export function renderEdits({ entry: { edit } }: ListedOverlay, columns: number): readonly string[] {
  const edits = edit.type === "plan" ? edit.edits : [];
  if (edits.length === 0) return ["This overlay is a single edit."];
  return edits.map((one, index) => fitText(escapeLine(`--edit ${index}  ${describeEdit(one)}`), columns));
}

/** Tells whether the overlay at `index` is in force, and if not, why; `listed` is ordered newest first. */
function describeStanding(index: number, listed: readonly ListedOverlay[]): string {
  const { entry, isHolding } = listed[index] as ListedOverlay;
  if (isHolding) return "in force";
  if (entry.edit.type === "revert") return "reverted";
  const rebuilt = listed.slice(0, index).find(isRebuilding);
  return rebuilt ? `replaced by #${rebuilt.entry.seq}` : "reverted";
}

function isRebuilding({ entry: { edit }, isHolding }: ListedOverlay): boolean {
  return isHolding && (edit.type === "plan" || edit.type === "summarize") && edit.isWhole === true;
}
