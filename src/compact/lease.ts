import { hostname } from "node:os";
import type { Log } from "../log/log.ts";
import { LonghaulError } from "../model/errors.ts";

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

/**
 * Does work that only one may do for a session at a time, in whatever process. COMPACTION_BUSY if someone else is at it.
 * The work's signal fires if the lease is lost, as after a long sleep of the machine.
 */
export async function withLease<T>(
  log: Log,
  session: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const name = `compact ${session}`;
  const owner = `${hostname()}|${process.pid}|${log.ids.next()}`;
  const claim = () =>
    log.store.leases.claim({ name, owner, expiresAt: log.clock.now() + LEASE_MS }, log.clock.now());
  const holder = await claim();
  if (holder)
    throw new LonghaulError(
      "COMPACTION_BUSY",
      `Session ${JSON.stringify(session)} is being compacted already, by ${holder.owner}.`,
      { details: { session, owner: holder.owner } },
    );
  const lost = new AbortController();
  const timer = setInterval(() => {
    claim().then(
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
