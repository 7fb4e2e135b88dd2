import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/log/store/store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { OwnerLease } from "../../src/tasks/owner-lease.ts";
import { patient, until } from "./agents.ts";
import { makeHost } from "./host.ts";

const LEASE_MS = 30_000;

/** A store in memory, a clock that stands still, and timers that ring by hand. */
async function createWorld() {
  const store = await openSqliteStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const world = { now: 1_000_000, rings: [] as { ring: () => void; delayMs: number }[] };
  const clock = { now: () => world.now };
  const timer = {
    after: (delayMs: number, ring: () => void) => {
      world.rings.push({ ring, delayMs });
      return () => undefined;
    },
  };
  return { store, world, clock, timer };
}

test("a claim that took the store too long is repeated, so that it does not expire early", async () => {
  const { store, world, clock, timer } = await createWorld();
  let delayMs = 25_000;
  const slow: Store = {
    ...store,
    leases: {
      claim: async (lease, now) => {
        world.now += delayMs;
        delayMs = 0;
        return store.leases.claim(lease, now);
      },
      release: (name, owner) => store.leases.release(name, owner),
      list: (prefix) => store.leases.list(prefix),
      get: (name) => store.leases.get(name),
      dropExpired: (before) => store.leases.dropExpired(before),
    },
  };
  const common = { clock, timer, owner: "elsewhere|1|a", leaseMs: LEASE_MS };
  const lease = new OwnerLease({
    ...common,
    store: slow,
    onLate: () => undefined,
    onWarning: () => undefined,
  });
  await lease.hold();
  expect(await store.leases.get("tasks elsewhere|1|a")).toMatchObject({ expiresAt: world.now + LEASE_MS });
});

test("owners on other machines get time to renew their leases after an outage of the store", async () => {
  const { store, world, clock, timer } = await createWorld();
  const owner = makeHost(store, { clock, owner: "far|1|a" });
  const other = makeHost(store, { clock, timer, owner: "near|1|b" });
  onTestFinished(async () => {
    await owner.tasks.close();
    await other.tasks.close();
  });
  await owner.tasks.start(patient, null, { id: "t" });
  await until(store, "result");
  await other.tasks.recover();
  // Both leases expire; the other supervisor is the first to renew its own.
  world.now += 2 * LEASE_MS;
  for (const { ring, delayMs } of world.rings.splice(0)) if (delayMs === LEASE_MS / 3) ring();
  await expect
    .poll(async () => (await store.leases.get("tasks near|1|b"))?.expiresAt)
    .toBe(world.now + LEASE_MS);
  expect(await other.tasks.recover()).toMatchObject({ lost: 0 });
  world.now += LEASE_MS / 2 - 1;
  expect(await other.tasks.recover()).toMatchObject({ lost: 0 });
  world.now += 2;
  await other.tasks.recover();
  expect(await other.tasks.status("t")).toMatchObject({ state: "failed", outcome: { reason: "lost" } });
});
