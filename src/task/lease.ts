import { hostname } from "node:os";
import { isOwnerAlive, OWNER_LEASE_MS } from "../base/owner.ts";
import type { Clock } from "../model/clock.ts";
import type { Closable } from "../model/scope.ts";
import type { Store } from "../store/store.ts";
import type { Timer } from "./timer.ts";

const nameOf = (owner: string) => `tasks ${owner}`;

/** What a lease needs. */
export interface LeaseParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly owner: string;
  readonly leaseMs: number;
  /** Told when the lease was not renewed in time, so that others may have taken tasks over. */
  readonly onLate: () => void;
  readonly onWarning: (warning: string) => void;
}

/** One sign of life for all tasks of an owner, renewed three times within its time. */
export class OwnerLease implements Closable {
  readonly #parts: LeaseParts;
  #held: Promise<void> | undefined;
  #renewedAt = 0;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  /** Resolves when the owner is known to live; must come before the first task. */
  hold(): Promise<void> {
    this.#held ??= this.#claim().then(
      () => this.#beat(),
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
    const { store, owner } = this.#parts;
    await store.leases.release(nameOf(owner), owner);
  }

  async #claim(): Promise<void> {
    const { store, clock, owner, leaseMs } = this.#parts;
    const now = clock.now();
    await store.leases.claim({ name: nameOf(owner), owner, expiresAt: now + leaseMs }, now);
    this.#renewedAt = now;
  }

  #beat(): void {
    const { clock, timer, leaseMs, onLate, onWarning } = this.#parts;
    if (this.#isClosed) return;
    this.#cancel = timer.after(leaseMs / 3, () => {
      const isLate = clock.now() - this.#renewedAt > leaseMs;
      this.#claim()
        .then(() => isLate && onLate())
        .catch((error) => onWarning(`The lease of this process's tasks was not renewed: ${error}`))
        .finally(() => this.#beat());
    });
  }
}

/** Removes the lease of an owner that is dead. */
export function dropLease(store: Store, owner: string): Promise<void> {
  return store.leases.release(nameOf(owner), owner);
}

/** Whether an owner of tasks may still be running them. */
export async function isOwnerOfTasksAlive(store: Store, owner: string, now: number): Promise<boolean> {
  return (await lifeOfOwner(store, owner, now)).state === "alive";
}

/** How an owner of tasks stands: its lease is over, but its process is there, is "silent"; a machine that slept is so, too. */
export interface OwnerLife {
  readonly state: "alive" | "silent" | "dead";
  /** Until when its last sign of life holds. */
  readonly expiresAt: number;
}

/** What is known of the life of an owner of tasks. */
export async function lifeOfOwner(store: Store, owner: string, now: number): Promise<OwnerLife> {
  const lease = await store.leases.get(nameOf(owner));
  if (!lease) return { state: "dead", expiresAt: 0 };
  const { expiresAt } = lease;
  if (isOwnerAlive(owner, expiresAt - OWNER_LEASE_MS, now)) return { state: "alive", expiresAt };
  const isThere = owner.startsWith(`${hostname()}|`) && isOwnerAlive(owner, now, now);
  return { state: isThere ? "silent" : "dead", expiresAt };
}
