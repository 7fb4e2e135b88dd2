import { hostname } from "node:os";
import type { Store } from "../log/store/store.ts";
import { isOwnerAlive, OWNER_LEASE_MS } from "../model/base/owner.ts";
import type { Clock } from "../model/clock.ts";
import type { Closable } from "../model/lifetime.ts";
import type { Timer } from "./timer.ts";

const toLeaseName = (owner: string) => `tasks ${owner}`;

/** Dependencies of an `OwnerLease`. */
interface OwnerLeaseDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly owner: string;
  readonly leaseMs: number;
  /** Called when the lease was not renewed in time, so other processes may have taken tasks over. */
  readonly onLate: () => void;
  readonly onWarning: (warning: string) => void;
}

/** One heartbeat for all tasks of an owner, renewed three times per `leaseMs`. */
export class OwnerLease implements Closable {
  readonly #deps: OwnerLeaseDeps;
  #held: Promise<void> | undefined;
  #renewedAt = 0;
  #lateAt = Number.NEGATIVE_INFINITY;
  #isClaiming = false;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: OwnerLeaseDeps) {
    this.#deps = parts;
  }

  /** Resolves when the lease is claimed; must be called before the first task. */
  hold(): Promise<void> {
    this.#held ??= this.#claim().then(
      () => this.#scheduleRenewal(),
      (error) => {
        this.#held = undefined;
        throw error;
      },
    );
    return this.#held;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    if (!this.#held) return;
    await this.#held.catch(() => undefined);
    const { store, owner } = this.#deps;
    await store.leases.release(toLeaseName(owner), owner);
  }

  async #claim(): Promise<void> {
    const { store, clock, owner, leaseMs } = this.#deps;
    let now: number;
    this.#isClaiming = true;
    try {
      do {
        now = clock.now();
        await store.leases.claim({ name: toLeaseName(owner), owner, expiresAt: now + leaseMs }, now);
        // A store that could not be reached for a while may have accepted a claim that is old by now.
      } while (clock.now() - now > leaseMs / 3);
    } finally {
      this.#isClaiming = false;
    }
    if (this.#renewedAt > 0 && now - this.#renewedAt > leaseMs) this.#lateAt = now;
    this.#renewedAt = now;
  }

  /**
   * Whether this lease is being renewed late, or was just now, because the machine slept or the store was away: the leases of others
   * may have expired for the same reason, and their owners are about to renew them.
   */
  get isBack(): boolean {
    const { clock, leaseMs } = this.#deps;
    const now = clock.now();
    return now - this.#lateAt < leaseMs / 2 || (this.#isClaiming && now - this.#renewedAt > leaseMs);
  }

  #scheduleRenewal(): void {
    const { timer, leaseMs, onLate, onWarning } = this.#deps;
    if (this.#isClosed) return;
    this.#cancel = timer.after(leaseMs / 3, () => {
      const former = this.#renewedAt;
      this.#claim()
        .then(() => this.#renewedAt - former > leaseMs && onLate())
        .catch((error) => onWarning(`The lease of this process's tasks was not renewed: ${error}`))
        .finally(() => this.#scheduleRenewal());
    });
  }
}

/** Removes the lease of a dead owner. */
export function dropLease(store: Store, owner: string): Promise<void> {
  return store.leases.release(toLeaseName(owner), owner);
}

/** Whether an owner may still be running its tasks. */
export async function isTaskOwnerAlive(store: Store, owner: string, now: number): Promise<boolean> {
  return (await readOwnerLife(store, owner, now)).state === "alive";
}

/**
 * State of a task owner. "silent": its lease has expired but its process exists, for example after the machine slept.
 */
interface OwnerLife {
  readonly state: "alive" | "silent" | "dead";
  /** Expiry of its last heartbeat. */
  readonly expiresAt: number;
}

/** Determines the state of a task owner. */
export async function readOwnerLife(store: Store, owner: string, now: number): Promise<OwnerLife> {
  const lease = await store.leases.get(toLeaseName(owner));
  if (!lease) return { state: "dead", expiresAt: 0 };
  const { expiresAt } = lease;
  if (isOwnerAlive(owner, expiresAt - OWNER_LEASE_MS, now)) return { state: "alive", expiresAt };
  const isThere = owner.startsWith(`${hostname()}|`) && isOwnerAlive(owner, now, now);
  return { state: isThere ? "silent" : "dead", expiresAt };
}
