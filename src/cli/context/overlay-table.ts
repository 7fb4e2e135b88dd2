import type { ListedOverlay, SessionId } from "../../index.ts";
import { formatTime } from "../ago.ts";
import { escapeLine } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { type Column, tableLines } from "../table.ts";
import { formatChange } from "../tokens.ts";
import { editWords } from "../transcript/edit-words.ts";
import { fitTo } from "../width.ts";
import { cite } from "./cite.ts";
import { standingOf } from "./standing.ts";

const COLUMNS: readonly Column[] = [
  { title: "overlay", look: "cyan", shrinks: "last" },
  { title: "created", shrinks: "last" },
  { title: "edit", shrinks: "first" },
  { title: "window", shrinks: "last" },
  { title: "" },
];

/** Formats overlays as a table, newest first, with their standing. */
export function overlayTable(
  listed: readonly ListedOverlay[],
  session: SessionId,
  look: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  if (listed.length === 0) return ["No overlays: the window matches the log."];
  const rows = listed.map(({ entry }, index) => [
    cite(entry, session),
    formatTime(entry.madeAt ?? entry.at),
    `${entry.author} ${editWords(entry.edit)} (${entry.reason})`,
    entry.tokensBefore === undefined || entry.tokensAfter === undefined
      ? ""
      : formatChange(entry.tokensBefore, entry.tokensAfter),
    standingOf(index, listed),
  ]);
  return tableLines(COLUMNS, rows, look);
}

/** Lists the edits of one overlay with the numbers that --edit takes. */
export function editLines({ entry: { edit } }: ListedOverlay, columns: number): readonly string[] {
  const edits = edit.type === "plan" ? edit.edits : [];
  if (edits.length === 0) return ["This overlay is a single edit."];
  return edits.map((one, index) => fitTo(escapeLine(`--edit ${index}  ${editWords(one)}`), columns));
}
