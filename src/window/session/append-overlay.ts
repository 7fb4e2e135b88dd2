import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import { prepareBody } from "../../log/prepare-body.ts";
import type { ReadyBody } from "../../log/spilled-parts.ts";
import type { Entry, EntryKind, OverlayBody, SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";

type ReadyOverlay = ReadyBody<OverlayBody>;

const MAX_TRIES = 10;
const BATCH = 100;
/** Kinds of entries that can invalidate an overlay; new messages cannot. */
const CHANGES: readonly EntryKind[] = ["overlay", "line", "pin"];

/**
 * Appends an overlay that was built for the log up to `head`, or for any position if `head` is undefined. Returns
 * undefined, with nothing changed, if an overlay, line or pin added since then conflicts with it according to
 * `isInTheWay`, by default any.
 */
export async function appendOverlay(
  log: Log,
  session: SessionId,
  body: OverlayBody,
  head: number | undefined,
  isInTheWay: (entry: Entry) => boolean = () => true,
): Promise<Entry<OverlayBody> | undefined> {
  const ready = (await prepareBody(log, body)) as ReadyOverlay;
  if (head === undefined) return log.appendOne(session, ready);
  let expectedHead = head;
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await log.appendOne(session, ready, { expectedHead, retries: true });
      } catch (error) {
        if (!isLonghaulError(error, "POSITION_CONFLICT")) throw error;
      }
      const seen = expectedHead;
      ({ seq: expectedHead } = await log.store.entries.head(session));
      if (await hasConflict(log, session, { from: seen + 1, to: expectedHead }, isInTheWay)) break;
      if (tries === MAX_TRIES) return await appendAnyway(log, session, ready, expectedHead, isInTheWay);
    }
  } catch (error) {
    await log.releaseHolds(ready.holds ?? []);
    throw error;
  }
  await log.releaseHolds(ready.holds ?? []);
  return undefined;
}

/**
 * While others append continuously, `expectedHead` never matches. Appends the overlay unconditionally and reverts it if
 * it came too late.
 */
async function appendAnyway(
  log: Log,
  session: SessionId,
  ready: ReadyOverlay,
  seen: number,
  isInTheWay: (entry: Entry) => boolean,
): Promise<Entry<OverlayBody> | undefined> {
  const entry = await log.appendOne(session, ready);
  const { seq } = entry;
  if (!(await hasConflict(log, session, { from: seen + 1, to: seq - 1 }, isInTheWay))) return entry;
  const edit = { type: "revert", overlay: seq } as const;
  await log.appendOne(session, {
    body: { kind: "overlay", author: "longhaul", reason: "the window had changed meanwhile", edit },
  });
  return undefined;
}

async function hasConflict(
  log: Log,
  session: SessionId,
  { from, to }: { readonly from: number; readonly to: number },
  isInTheWay: (entry: Entry) => boolean,
): Promise<boolean> {
  for (let next = from; ; ) {
    const query = { from: next, to, limit: BATCH, order: "ascending", kinds: CHANGES } as const;
    const found = await log.store.entries.read(session, query);
    if (found.some((stored) => isInTheWay(toEntry(session, stored)))) return true;
    const last = found.at(-1);
    if (!last || found.length < BATCH) return false;
    next = last.seq + 1;
  }
}
