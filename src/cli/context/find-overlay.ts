import { type ListedOverlay, LonghaulError, parseEntryId, type Session } from "../../index.ts";
import { shellWord } from "../shell-word.ts";

/** The overlay of a number or id among those listed; ENTRY_NOT_FOUND says where they are listed. */
export function findOverlay(
  session: Session,
  listed: readonly ListedOverlay[],
  which: string,
): ListedOverlay {
  const number = /^#?(\d+)$/.exec(which)?.[1];
  const place = number === undefined ? parseEntryId(which) : { session: session.id, seq: Number(number) };
  const found = listed.find(({ entry }) => entry.seq === place.seq && entry.session === place.session);
  if (found) return found;
  throw notFound(session, `There is no overlay ${which} on the line of ${session.id}; ${seeList(session)}`);
}

/** The newest edit that holds, reverts not counted; ENTRY_NOT_FOUND if none does. */
export function newestOverlay(session: Session, listed: readonly ListedOverlay[]): ListedOverlay {
  const found = listed.find(({ isHolding, entry }) => isHolding && entry.edit.type !== "revert");
  if (found) return found;
  throw notFound(session, `There is nothing to take back: no overlay of ${session.id} holds.`);
}

/** Throws unless there is something to take back. */
export function checkHolding(session: Session, { entry, isHolding }: ListedOverlay): void {
  if (isHolding) return;
  throw notFound(session, `Overlay #${entry.seq} does not hold any more; ${seeList(session)}`);
}

function seeList({ id }: Session): string {
  return `"longhaul revert ${shellWord(id)} --list" lists them.`;
}

function notFound({ id }: Session, message: string): LonghaulError {
  return new LonghaulError("ENTRY_NOT_FOUND", message, { details: { session: id } });
}
