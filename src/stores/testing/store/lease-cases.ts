import assert from "node:assert/strict";
import type { StoreProof } from "./store-proof.ts";

const lease = (owner: string, expiresAt: number) => ({ name: "work", owner, expiresAt });

export const leaseCases: readonly StoreProof[] = [
  [
    "leases: one owner at a time, who can prolong and let go",
    async (store) => {
      assert.equal(await store.leases.get("work"), undefined);
      assert.equal(await store.leases.claim(lease("a", 100), 0), undefined);
      assert.deepEqual(await store.leases.claim(lease("b", 100), 50), lease("a", 100));
      assert.equal(await store.leases.claim(lease("a", 200), 50), undefined);
      await store.leases.release("work", "b");
      assert.deepEqual(await store.leases.get("work"), lease("a", 200));
      await store.leases.release("work", "a");
      assert.equal(await store.leases.claim(lease("b", 300), 60), undefined);
    },
  ],
  [
    "leases: what has expired can be claimed by anyone, and prolonged by nobody else",
    async (store) => {
      await store.leases.claim(lease("a", 100), 0);
      assert.equal(await store.leases.claim(lease("b", 300), 100), undefined);
      assert.deepEqual(await store.leases.claim(lease("a", 400), 150), lease("b", 300));
    },
  ],
  [
    "leases: those that ended can be dropped, and others stay",
    async (store) => {
      await store.leases.claim(lease("a", 100), 0);
      await store.leases.claim({ ...lease("b", 300), name: "other" }, 0);
      assert.equal(await store.leases.dropExpired(200), 1);
      assert.equal(await store.leases.get("work"), undefined);
      assert.deepEqual(await store.leases.get("other"), { ...lease("b", 300), name: "other" });
    },
  ],
  [
    "leases: of many who claim at once one succeeds",
    async (store) => {
      const owners = Array.from({ length: 20 }, (_, index) => `owner ${index}`);
      const claims = await Promise.all(owners.map((owner) => store.leases.claim(lease(owner, 100), 0)));
      assert.equal(claims.filter((known) => known === undefined).length, 1);
    },
  ],
];
