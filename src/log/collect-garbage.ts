import { isOwnerAlive, isOwnerRunning } from "../base/owner.ts";
import type { CollectedBlobs, CollectOptions } from "../store/blob-store.ts";
import { adoptInterrupted } from "./interrupted-drafts.ts";
import type { Log } from "./log.ts";

/** Counts of a collection of the whole store. */
export interface CollectedGarbage extends CollectedBlobs {
  /** Drafts of dead writers that became interrupted messages; no text is lost. */
  readonly drafts: number;
}

/** Removes unreferenced blobs and files of crashed writers, and turns abandoned drafts into interrupted messages. */
export async function collectGarbage(log: Log, options: CollectOptions): Promise<CollectedGarbage> {
  const { dryRun = false, minAgeMs = 0 } = options;
  const now = log.clock.now();
  let drafts = 0;
  // Drafts first: blobs of an adopted draft are then referred to by its message.
  for (const session of await log.store.drafts.sessions()) {
    const stale = (await log.store.drafts.list(session)).filter(
      ({ owner, at }) => now - at >= minAgeMs && !isOwnerRunning(owner) && !isOwnerAlive(owner, at, now),
    );
    if (stale.length === 0) continue;
    drafts += dryRun ? stale.length : await adoptInterrupted(log, session);
  }
  return { ...(await log.store.blobs.collect(options)), drafts };
}
