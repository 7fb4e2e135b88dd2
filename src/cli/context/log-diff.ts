import type { Entry, MessageBody, Session } from "../../index.ts";
import { diffWindows, type Slot, type WindowChange } from "../../window-entry.ts";
import { citeEntry } from "./cite-entry.ts";

/** Maximum messages to compare with the window, counted from the newest. */
const MAX_COMPARED = 5_000;

/** Differences between a window and the log. */
export interface LogDiff {
  readonly changes: readonly WindowChange[];
  /** True if the line has older messages that were not compared. */
  readonly isCut: boolean;
}

/** Compares a window with the original messages of its line. */
export async function compareWithLog(session: Session, window: readonly Slot[]): Promise<LogDiff> {
  const { entries, isCut } = await readNewestMessages(session);
  const places = new Map(entries.map((entry, index) => [citeEntry(entry, session.id), index]));
  const said = entries.map(
    (entry, index): Slot => ({
      seq: index,
      cite: citeEntry(entry, session.id),
      at: entry.at,
      message: entry.message,
      tokens: 0,
    }),
  );
  const shown: Slot[] = [];
  for (const slot of window) {
    const own = slot.cite ?? `#${slot.seq}`;
    const place = slot.isNote ? (shown.at(-1)?.seq ?? -1) + 1 : places.get(own);
    // Slots older than the compared messages are left out of the diff.
    if (place !== undefined) shown.push({ ...slot, seq: place, cite: own });
  }
  return { changes: diffWindows(said, shown), isCut };
}

async function readNewestMessages(
  session: Session,
): Promise<{ readonly entries: readonly Entry<MessageBody>[]; readonly isCut: boolean }> {
  const newest: Entry<MessageBody>[] = [];
  for await (const entry of session.entries({ direction: "older", kinds: ["message"] })) {
    if (newest.length === MAX_COMPARED) return { entries: newest.reverse(), isCut: true };
    newest.push(entry as Entry<MessageBody>);
  }
  return { entries: newest.reverse(), isCut: false };
}
