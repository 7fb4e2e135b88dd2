import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, isLonghaulError } from "../../../kernel/index.ts";
import type { WireFault } from "../../../wire/wire.ts";
import type { Threads } from "./threads.ts";

/** Failures of the store that do not concern the client, because its request can still be answered. */
const STORE_FAILURES: readonly ErrorCode[] = [
  "BLOB_CORRUPT",
  "BLOB_NOT_FOUND",
  "DISK_FULL",
  "SESSION_NOT_FOUND",
  "STORE_BUSY",
  "STORE_CORRUPT",
  "STORE_IO",
  "STORE_READ_ONLY",
];

/** The code of a store failure; undefined for any other error. */
export function findStoreFailure(error: unknown): ErrorCode | undefined {
  return STORE_FAILURES.find((code) => isLonghaulError(error, code));
}

/**
 * Runs work that needs the store. If a session was deleted, its conversation is restarted from the client's messages.
 * On any other store failure, calls `onTrouble` and returns undefined, so that the request continues without the store.
 */
export async function runWithStore<T>(
  work: () => Promise<T>,
  threads: Pick<Threads, "renew">,
  onTrouble: (error: unknown, code: ErrorCode) => void,
): Promise<T | undefined> {
  for (let isSecond = false; ; isSecond = true) {
    try {
      return await work();
    } catch (error) {
      const code = findStoreFailure(error);
      if (code === undefined) throw error;
      if (code === "SESSION_NOT_FOUND" && !isSecond && (await tryRenew(threads, error))) continue;
      onTrouble(error, code);
      return undefined;
    }
  }
}

async function tryRenew(threads: Pick<Threads, "renew">, error: unknown): Promise<boolean> {
  const session = isLonghaulError(error) ? error.details.session : undefined;
  return typeof session === "string" && (await threads.renew(session));
}

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

/**
 * Waits until a database that is away answers again, before anything of the request is read. Returns a fault once it
 * has been away for too long.
 */
export async function waitForStore(
  store: { readonly silentMs: number },
  signal: AbortSignal,
): Promise<WireFault | undefined> {
  while (store.silentMs >= AWAY_MS) {
    if (store.silentMs >= MAX_AWAY_MS) return STORE_AWAY;
    if (signal.aborted) return undefined;
    await sleep(LOOK_MS);
  }
  return undefined;
}
