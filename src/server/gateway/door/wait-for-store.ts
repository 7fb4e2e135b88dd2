import { setTimeout as sleep } from "node:timers/promises";
import type { WireFault } from "../../../wire/wire.ts";

/** A database that has not answered for this long counts as away. */
const AWAY_MS = 3_000;
/** Requests wait for a database that is away no longer than this: a restart and a failover end earlier. */
const MAX_AWAY_MS = 30_000;
const LOOK_MS = 100;

/** The fault of a request that needs a database which is away. */
export const STORE_AWAY: WireFault = {
  status: 503,
  kind: "unavailable",
  message:
    "The gateway's database cannot be reached. Nothing was sent to the provider, because the conversation could not be stored; try again in a moment.",
};

/** True if a database has not answered for so long that requests must wait for it. */
export function isStoreAway(store: { readonly silentMs: number }): boolean {
  return store.silentMs >= AWAY_MS;
}

/**
 * Waits until a database that is away answers again, before anything of the request is read. Returns a fault once it
 * has been away for too long.
 */
export async function waitForStore(
  store: { readonly silentMs: number },
  signal: AbortSignal,
): Promise<WireFault | undefined> {
  while (isStoreAway(store)) {
    if (store.silentMs >= MAX_AWAY_MS) return STORE_AWAY;
    if (signal.aborted) return undefined;
    await sleep(LOOK_MS);
  }
  return undefined;
}
