import { LonghaulError, parseEntryId, type Session } from "../../index.ts";
import type { ListedOverlay } from "../../window-entry.ts";
import { quoteShellWord } from "../quote-shell-word.ts";

/** Finds a listed overlay by number or id; throws ENTRY_NOT_FOUND with a hint to the list. */
export function findOverlay(
  session: Session,
  listed: readonly ListedOverlay[],
  which: string,
): ListedOverlay {
  const number = /^#?(\d+)$/.exec(which)?.[1];
  const place = number === undefined ? parseEntryId(which) : { session: session.id, seq: Number(number) };
  const found = listed.find(({ entry }) => entry.seq === place.seq && entry.session === place.session);
  if (found) return found;
  throw createNotFoundError(
    session,
    `There is no overlay ${which} on the line of ${session.id}; ${formatListHint(session)}`,
  );
}

/**
 * Returns the newest edit in force that a person would mean by "the last edit": one that removed something, or else the
 * newest of any kind, but no revert. Throws ENTRY_NOT_FOUND if there is none.
 */
export async function findNewestOverlay(session: Session): Promise<ListedOverlay> {
  const found = await session.overlays.findLastEdit();
  if (found) return found;
  throw createNotFoundError(session, `There is nothing to revert: ${session.id} has no overlay in force.`);
}

/** Throws ENTRY_NOT_FOUND unless the overlay is in force. */
export function checkInForce(session: Session, { entry, isHolding }: ListedOverlay): void {
  if (isHolding) return;
  throw createNotFoundError(
    session,
    `Overlay #${entry.seq} is no longer in force; ${formatListHint(session)}`,
  );
}

function formatListHint({ id }: Session): string {
  return `"longhaul revert ${quoteShellWord(id)} --list" lists them.`;
}

function createNotFoundError({ id }: Session, message: string): LonghaulError {
  return new LonghaulError("ENTRY_NOT_FOUND", message, { details: { session: id } });
}
