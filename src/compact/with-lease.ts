import { claimOwner, isOwnerAlive, releaseOwner } from "../base/owner.ts";
import type { Log } from "../log/log.ts";
import { LonghaulError } from "../model/errors.ts";

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

/**
 * Runs work that only one process at a time may do for a session. Throws COMPACTION_BUSY if another process holds the
 * lease; takes over the lease of a process that died on this machine. The work's signal fires if the lease is lost, for
 * example after the machine was suspended.
 */
export async function withLease<T>(
  log: Log,
  session: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const name = `compact ${session}`;
  const owner = claimOwner();
  try {
    await claimLease(log, session, name, owner);
    return await runWhileClaimed(log, name, owner, signal, work);
  } finally {
    releaseOwner(owner);
  }
}

async function claimLease(log: Log, session: string, name: string, owner: string): Promise<void> {
  let holder = await tryClaim(log, name, owner);
  if (holder && !isOwnerAlive(holder.owner, holder.expiresAt - LEASE_MS, log.clock.now())) {
    await log.store.leases.release(name, holder.owner);
    holder = await tryClaim(log, name, owner);
  }
  if (!holder) return;
  throw new LonghaulError(
    "COMPACTION_BUSY",
    `Session ${JSON.stringify(session)} is being compacted already, by ${holder.owner}.`,
    { details: { session, owner: holder.owner } },
  );
}

async function runWhileClaimed<T>(
  log: Log,
  name: string,
  owner: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    tryClaim(log, name, owner).then(
      (other) => other && lost.abort(new Error("The lease was lost.")),
      (error) => lost.abort(error),
    );
  }, RENEW_MS);
  timer.unref();
  try {
    return await work(signal ? AbortSignal.any([signal, lost.signal]) : lost.signal);
  } finally {
    clearInterval(timer);
    await log.store.leases.release(name, owner);
  }
}

function tryClaim({ store, clock }: Log, name: string, owner: string) {
  return store.leases.claim({ name, owner, expiresAt: clock.now() + LEASE_MS }, clock.now());
}
