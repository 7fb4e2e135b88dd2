import { claimOwner, isOwnerAlive, OWNER_LEASE_MS, releaseOwner } from "../model/base/owner.ts";
import type { Closable } from "../model/lifetime.ts";
import type { Log } from "./log.ts";

const PREFIX = "gateway ";
/** Three signs in the time after which a gateway of another machine counts as dead. */
const SIGN_MS = OWNER_LEASE_MS / 3;

/** Tells the gateways on one store of each other, by a lease of each that it renews. */
export class Presence implements Closable {
  /** The name of this gateway. */
  readonly owner = claimOwner();
  readonly #log: Pick<Log, "store" | "clock">;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, "store" | "clock">) {
    this.#log = log;
  }

  /** Announces this gateway until `close`; failures to renew its lease go to `onError`. */
  async announce(onError: (error: unknown) => void): Promise<void> {
    const { store } = this.#log;
    const known = await store.leases.list(PREFIX);
    for (const { name, owner, expiresAt } of known)
      if (!this.#isAlive(owner, expiresAt)) await store.leases.release(name, owner);
    await this.#sign();
    this.#timer = setInterval(() => void this.#sign().catch(onError), SIGN_MS);
    this.#timer.unref();
  }

  /** The names of the other gateways that are alive. */
  async listOthers(): Promise<readonly string[]> {
    const known = await this.#log.store.leases.list(PREFIX);
    return known.flatMap(({ owner, expiresAt }) =>
      owner !== this.owner && this.#isAlive(owner, expiresAt) ? [owner] : [],
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    releaseOwner(this.owner);
    if (this.#timer) await this.#log.store.leases.release(`${PREFIX}${this.owner}`, this.owner);
  }

  async #sign(): Promise<void> {
    const { store, clock } = this.#log;
    const now = clock.now();
    const lease = { name: `${PREFIX}${this.owner}`, owner: this.owner, expiresAt: now + OWNER_LEASE_MS };
    await store.leases.claim(lease, now);
  }

  #isAlive(owner: string, expiresAt: number): boolean {
    return isOwnerAlive(owner, expiresAt - OWNER_LEASE_MS, this.#log.clock.now());
  }
}
