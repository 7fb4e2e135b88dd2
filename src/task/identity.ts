import { randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import type { Store } from "../store/store.ts";

/** A lease that is claimed once and never released; its owner is the id of the store. */
const NAME = "identity of the store";

const known = new WeakMap<Store, Promise<string>>();

/** The id of a store, the same in every process that opens it; created on first use. */
export function identityOf(store: Store, clock: Clock): Promise<string> {
  let identity = known.get(store);
  if (!identity) {
    identity = claim(store, clock).catch((error) => {
      known.delete(store);
      throw error;
    });
    known.set(store, identity);
  }
  return identity;
}

async function claim({ leases }: Store, clock: Clock): Promise<string> {
  const former = await leases.get(NAME);
  if (former) return former.owner;
  const owner = randomBytes(6).toString("hex");
  const first = await leases.claim({ name: NAME, owner, expiresAt: Number.MAX_SAFE_INTEGER }, clock.now());
  return first?.owner ?? owner;
}
