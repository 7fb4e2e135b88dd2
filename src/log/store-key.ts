import { randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import type { Store } from "./store/store.ts";

/** Begins the names of leases that hold keys of a store. */
const KEY_PREFIX = "key ";

/** A random key of a store, the same in every process that opens it; created on first use. */
export async function readStoreKey(
  { leases }: Pick<Store, "leases">,
  clock: Clock,
  name: string,
): Promise<string> {
  // A lease that never ends: of several who claim it, one succeeds.
  const owner = randomBytes(32).toString("hex");
  const lease = { name: `${KEY_PREFIX}${name}`, owner, expiresAt: Number.MAX_SAFE_INTEGER };
  const known = await leases.get(lease.name);
  return known?.owner ?? (await leases.claim(lease, clock.now()))?.owner ?? owner;
}
