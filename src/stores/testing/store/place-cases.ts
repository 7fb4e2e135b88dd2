import assert from "node:assert/strict";
import { appendRequest, buildMessageEntry, makeSession } from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

const ONE = "11".repeat(16);
const TWO = "22".repeat(16);
const THREE = "33".repeat(16);

/** Keys of entries. */
export const placeCases: readonly StoreProof[] = [
  [
    "places: an entry is found by the keys of its commit, that of the newest session first",
    async (store) => {
      await makeSession(store, "a");
      await makeSession(store, "b");
      await appendRequest(store, {
        session: "a",
        entries: [buildMessageEntry("x"), { ...buildMessageEntry("y"), places: [ONE, TWO] }],
      });
      await appendRequest(store, {
        session: "b",
        entries: [{ ...buildMessageEntry("z"), places: [TWO, TWO] }],
      });
      assert.deepEqual(await store.places.find([TWO, ONE, THREE], 10), [
        { key: TWO, session: "b", seq: 1 },
        { key: TWO, session: "a", seq: 2 },
        { key: ONE, session: "a", seq: 2 },
      ]);
      assert.deepEqual(await store.places.find([TWO], 1), [{ key: TWO, session: "b", seq: 1 }]);
      assert.deepEqual(await store.places.find([], 1), []);
      await appendRequest(store, { session: "b", entries: [{ ...buildMessageEntry("z"), places: [THREE] }] });
      assert.deepEqual(await store.places.findLast([TWO, THREE], 10), [
        { key: TWO, session: "a", seq: 2 },
        { key: THREE, session: "b", seq: 2 },
      ]);
    },
  ],
  [
    "places: a refused append adds no key",
    async (store) => {
      await makeSession(store, "a");
      const entries = [{ ...buildMessageEntry("x"), places: [ONE] }];
      const [outcome] = await store.entries.append([{ session: "a", expectedHead: 7, entries }]);
      assert.ok(outcome instanceof Error);
      assert.deepEqual(await store.places.find([ONE], 10), []);
    },
  ],
  [
    "places: keys can be added to entries that exist, and to no others",
    async (store) => {
      await makeSession(store, "old");
      await makeSession(store, "empty");
      await appendRequest(store, { session: "old", entries: [buildMessageEntry("x")] });
      const unplaced = await store.places.listUnplaced({ limit: 10 });
      assert.deepEqual(
        unplaced.map(({ session }) => session),
        ["old", "empty"],
      );
      await store.places.put([
        { key: ONE, session: "old", seq: 1 },
        { key: ONE, session: "old", seq: 1 },
        { key: TWO, session: "old", seq: 2 },
        { key: TWO, session: "nobody", seq: 1 },
      ]);
      assert.deepEqual(await store.places.find([ONE, TWO], 10), [{ key: ONE, session: "old", seq: 1 }]);
      assert.deepEqual(await store.places.ofSession("old"), [{ key: ONE, session: "old", seq: 1 }]);
      assert.deepEqual(await store.places.ofSession("nobody"), []);
      const after = unplaced[0]?.place ?? 0;
      assert.deepEqual(await store.places.listUnplaced({ limit: 10 }), unplaced.slice(1));
      assert.deepEqual(await store.places.listUnplaced({ after, limit: 10 }), unplaced.slice(1));
    },
  ],
  [
    "places: a redacted entry and a deleted session are found by no key any more",
    async (store) => {
      await makeSession(store, "a");
      await makeSession(store, "b");
      const entries = [
        { ...buildMessageEntry("x"), places: [ONE] },
        { ...buildMessageEntry("y"), places: [TWO] },
      ];
      await appendRequest(store, { session: "a", entries });
      await appendRequest(store, { session: "b", entries });
      await store.entries.redact("a", [{ seq: 1, payload: Buffer.from("gone") }]);
      await store.sessions.delete("b");
      assert.deepEqual(await store.places.find([ONE, TWO], 10), [{ key: TWO, session: "a", seq: 2 }]);
      await makeSession(store, "b");
      assert.deepEqual(await store.places.ofSession("b"), []);
    },
  ],
];
