import type { OverlayBody } from "../../kernel/faces/log.ts";
import { type Edit, revertedOverlays } from "../../kernel/faces/window.ts";
import { type Entry, type EntryId, formatEntryId } from "../../kernel/index.ts";
import { hasSeq } from "../../model/line.ts";
import type { ExportedSession } from "../port/writer.ts";

type OverlayMark = Parameters<typeof revertedOverlays>[0][number];

/** Stands for any edit that is not a revert, so that large edits are not held. */
const OTHER_EDIT: Edit = { type: "hide", ranges: [] };

/**
 * Returns the ids of reverted overlays. On the active line only its own reverts count; for entries that have left it,
 * those of the whole log.
 */
export async function revertedIn(
  session: ExportedSession,
  which: "line" | "log",
): Promise<ReadonlySet<EntryId>> {
  const reverted = new Set(revertedOverlays(await overlayMarks(session, "line")));
  if (which === "line") return reverted;
  const marks = await overlayMarks(session, "log");
  const inLog = revertedOverlays(marks);
  for (const mark of marks) {
    const id = formatEntryId(mark.session, mark.seq);
    if (inLog.has(id) && !hasSeq(session.line, mark)) reverted.add(id);
  }
  return reverted;
}

/** Returns the overlays on the session's line that were not reverted, oldest first. */
export async function overlaysOf(session: ExportedSession): Promise<readonly Entry<OverlayBody>[]> {
  const reverted = await revertedIn(session, "line");
  const overlays: Entry<OverlayBody>[] = [];
  for await (const entry of session.entries("line"))
    if (entry.kind === "overlay" && entry.edit.type !== "revert" && !reverted.has(entry.id))
      overlays.push(entry);
  return overlays;
}

async function overlayMarks(
  session: ExportedSession,
  which: "line" | "log",
): Promise<readonly OverlayMark[]> {
  const marks: OverlayMark[] = [];
  for await (const entry of session.entries(which)) {
    if (entry.kind !== "overlay") continue;
    const edit = entry.edit.type === "revert" ? entry.edit : OTHER_EDIT;
    marks.push({ session: entry.session, seq: entry.seq, edit });
  }
  return marks;
}
