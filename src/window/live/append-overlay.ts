import type { Log } from "../../log/log.ts";
import { readyBody } from "../../log/ready-body.ts";
import type { EntryKind, OverlayBody, SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";

const MOST_TRIES = 50;
/** Entries that change what a plan was made for; what is said meanwhile does not. */
const CHANGES: readonly EntryKind[] = ["overlay", "line", "pin"];

/**
 * Appends an overlay that was made for the log up to `head`, or for no place in particular. Undefined, with nothing
 * changed, if others have appended one of the given kinds since.
 */
export async function appendOverlay(
  log: Log,
  session: SessionId,
  body: OverlayBody,
  head: number | undefined,
  changes = CHANGES,
): Promise<number | undefined> {
  const ready = await readyBody(log, body);
  if (head === undefined) return (await log.appendOne(session, ready)).seq;
  let expectedHead = head;
  try {
    for (let tries = 1; ; tries++) {
      try {
        return (await log.appendOne(session, ready, { expectedHead, retries: true })).seq;
      } catch (error) {
        if (!isLonghaulError(error, "POSITION_CONFLICT") || tries === MOST_TRIES) throw error;
      }
      ({ seq: expectedHead } = await log.store.entries.head(session));
      const since = { from: head + 1, to: expectedHead, limit: 1, order: "ascending" } as const;
      const found = await log.store.entries.read(session, { ...since, kinds: changes });
      if (found.length > 0) break;
    }
  } catch (error) {
    await log.giveUp(ready.holds ?? []);
    throw error;
  }
  await log.giveUp(ready.holds ?? []);
  return undefined;
}
