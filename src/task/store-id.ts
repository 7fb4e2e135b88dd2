import { randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import type { Store } from "../store/store.ts";

/** A lease that is claimed once and never released; its owner is the id of the store. */
const STORE_ID_LEASE = "identity of the store";

const idsByStore = new WeakMap<Store, Promise<string>>();

/** The id of a store, the same in every process that opens it; created on first use. */
export function resolveStoreId(store: Store, clock: Clock): Promise<string> {
  let identity = idsByStore.get(store);
  if (!identity) {
    identity = claimStoreId(store, clock).catch((error) => {
      idsByStore.delete(store);
      throw error;
    });
    idsByStore.set(store, identity);
  }
  return identity;
}

async function claimStoreId({ leases }: Store, clock: Clock): Promise<string> {
  const former = await leases.get(STORE_ID_LEASE);
  if (former) return former.owner;
  const owner = randomBytes(6).toString("hex");
  const first = await leases.claim(
    { name: STORE_ID_LEASE, owner, expiresAt: Number.MAX_SAFE_INTEGER },
    clock.now(),
  );
  return first?.owner ?? owner;
}
