import { checkList } from "../model/argument-checks.ts";
import type { Message } from "../model/message.ts";
import type { Slot } from "./slot.ts";

/** The change to one message between two windows. */
export interface WindowChange {
  readonly type: "stays" | "leaves" | "changes" | "comes";
  /** Citation of the entry: "#12", or "<session>#12" for an entry of another session. */
  readonly place: string;
  /** The message in the first window; absent for "comes". */
  readonly before?: Message;
  /** The message in the second window; absent for "leaves". */
  readonly after?: Message;
}

/** Compares two windows of a session message by message, in the order of the line. */
export function diffWindows(before: readonly Slot[], after: readonly Slot[]): readonly WindowChange[] {
  checkList("before", before, { message: "object", seq: "number" });
  checkList("after", after, { message: "object", seq: "number" });
  const changes: WindowChange[] = [];
  const old = new Map(before.map((slot) => [getSlotKey(slot), slot]));
  const kept = new Set(after.map(getSlotKey));
  const gone = before.filter((slot) => !kept.has(getSlotKey(slot)));
  let next = 0;
  for (const slot of after) {
    // A note replaces messages that leave at its position, so list it after them.
    const isNew = !old.has(getSlotKey(slot));
    const end = slot.seq + (isNew ? computeGapLength(before, slot, kept) : 0);
    for (; next < gone.length && (gone[next] as Slot).seq < end; next++)
      changes.push(toLeavingChange(gone[next] as Slot));
    changes.push(toRemainingChange(old.get(getSlotKey(slot)), slot));
  }
  for (; next < gone.length; next++) changes.push(toLeavingChange(gone[next] as Slot));
  return changes;
}

/** Length of the range that a note stands for: up to the next message that stays. */
function computeGapLength(before: readonly Slot[], note: Slot, kept: ReadonlySet<string>): number {
  const following = before.find((slot) => slot.seq >= note.seq && kept.has(getSlotKey(slot)));
  return following ? following.seq - note.seq : Number.POSITIVE_INFINITY;
}

/** Notes at the same position are told apart by their text. */
function getSlotKey({ seq, isNote, message }: Slot): string {
  return isNote ? `note ${seq} ${JSON.stringify(message.parts)}` : `${seq}`;
}

function toLeavingChange(slot: Slot): WindowChange {
  return { type: "leaves", place: citeSlot(slot), before: slot.message };
}

function toRemainingChange(old: Slot | undefined, slot: Slot): WindowChange {
  const place = citeSlot(slot);
  if (!old) return { type: "comes", place, after: slot.message };
  const isSame =
    old.message === slot.message ||
    (old.message.role === slot.message.role &&
      JSON.stringify(old.message.parts) === JSON.stringify(slot.message.parts));
  return { type: isSame ? "stays" : "changes", place, before: old.message, after: slot.message };
}

function citeSlot({ seq, cite, isNote }: Slot): string {
  return isNote ? `note at #${seq}` : (cite ?? `#${seq}`);
}
