import assert from "node:assert/strict";
import {
  appendEntries,
  assertRefused,
  assertRejects,
  buildFullQuery,
  buildMessageEntry,
  makeSession,
  readBlob,
  readPayloadText,
  writeBlob,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

export const entryCases: readonly StoreProof[] = [
  [
    "entries: seqs count from one without gaps in each session",
    async (store) => {
      await makeSession(store, "a");
      await makeSession(store, "b");
      const outcomes = await store.entries.append([
        { session: "a", entries: [buildMessageEntry("a1"), buildMessageEntry("a2")] },
        { session: "b", entries: [buildMessageEntry("b1")] },
        { session: "a", entries: [buildMessageEntry("a3")] },
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => (outcome instanceof Error ? outcome : outcome.firstSeq)),
        [1, 1, 3],
      );
      const stored = await store.entries.read("a", buildFullQuery());
      assert.deepEqual(
        stored.map((entry) => [entry.seq, readPayloadText(entry)]),
        [
          [1, "a1"],
          [2, "a2"],
          [3, "a3"],
        ],
      );
    },
  ],
  [
    "entries: times never decrease, and are returned as they were stored",
    async (store) => {
      await makeSession(store, "s");
      const { ats } = await appendEntries(store, "s", [
        buildMessageEntry("x", 50),
        buildMessageEntry("y", 20),
        buildMessageEntry("z", 60),
      ]);
      assert.deepEqual(ats, [50, 50, 60]);
      await appendEntries(store, "s", [buildMessageEntry("w", 1)]);
      assert.deepEqual(await store.entries.head("s"), { seq: 4, at: 60 });
      assert.equal((await store.entries.get("s", 2))?.at, 50);
    },
  ],
  [
    "entries: a refused request does not affect the others of its group",
    async (store) => {
      await makeSession(store, "s");
      const [first, second, third] = await store.entries.append([
        { session: "s", entries: [buildMessageEntry("1")] },
        { session: "nobody", entries: [buildMessageEntry("lost")] },
        { session: "s", entries: [buildMessageEntry("2")], expectedHead: 1 },
      ]);
      assert.deepEqual(first, { firstSeq: 1, ats: [1_000] });
      assert.ok(second instanceof Error);
      assert.deepEqual(third, { firstSeq: 2, ats: [1_000] });
    },
  ],
  [
    "entries: an append with another expected head is refused, and names the actual head",
    async (store) => {
      await makeSession(store, "s");
      await appendEntries(store, "s", ["1"], { expectedHead: 0 });
      const late = { session: "s", entries: [buildMessageEntry("2")], expectedHead: 0 };
      await assertRefused(store, late, "POSITION_CONFLICT");
      assert.equal((await store.entries.head("s")).seq, 1);
    },
  ],
  [
    "entries: entries are read in both directions, with a limit, from any place, and by kind",
    async (store) => {
      await makeSession(store, "s");
      const entries = Array.from({ length: 9 }, (_, index) => ({
        ...buildMessageEntry(`${index + 1}`),
        kind: index % 3 === 2 ? ("notice" as const) : ("message" as const),
      }));
      await appendEntries(store, "s", entries);
      const seqs = async (query: Parameters<typeof buildFullQuery>[0]) =>
        (await store.entries.read("s", buildFullQuery(query))).map(({ seq }) => seq);
      assert.deepEqual(await seqs({ from: 3, to: 6 }), [3, 4, 5, 6]);
      assert.deepEqual(await seqs({ from: 3, to: 6, order: "descending", limit: 2 }), [6, 5]);
      assert.deepEqual(await seqs({ kinds: ["notice"] }), [3, 6, 9]);
      assert.deepEqual(
        await seqs({ kinds: ["notice", "message"], order: "descending", limit: 3 }),
        [9, 8, 7],
      );
      assert.deepEqual(await seqs({ from: 10 }), []);
    },
  ],
  [
    "entries: an entry is found by its seq, and a missing one is undefined",
    async (store) => {
      await makeSession(store, "s");
      await appendEntries(store, "s", ["only"]);
      assert.equal(readPayloadText((await store.entries.get("s", 1)) ?? buildMessageEntry("")), "only");
      for (const seq of [0, 2, 2 ** 40]) assert.equal(await store.entries.get("s", seq), undefined);
      assert.equal(await store.entries.get("nobody", 1), undefined);
    },
  ],
  [
    "entries: seqAt finds the last entry at or before a time",
    async (store) => {
      await makeSession(store, "s");
      assert.equal(await store.entries.seqAt("s", 5), 0);
      const entries = [10, 20, 20, 20, 35, 1_000_000].map((at) => buildMessageEntry("x", at));
      await appendEntries(store, "s", entries);
      const found = await Promise.all(
        [9, 10, 19, 20, 34, 35, 999_999, 1_000_000, 2e12].map((at) => store.entries.seqAt("s", at)),
      );
      assert.deepEqual(found, [0, 1, 1, 4, 4, 5, 5, 6, 6]);
    },
  ],
  [
    "entries: the newest entry of kind line becomes the session's line",
    async (store) => {
      await makeSession(store, "s");
      await appendEntries(store, "s", ["1", { ...buildMessageEntry("line"), kind: "line" }, "3"]);
      assert.equal((await store.sessions.get("s"))?.lineSeq, 2);
    },
  ],
  [
    "entries: payloads are returned byte for byte, even empty and large ones",
    async (store) => {
      await makeSession(store, "s");
      const payloads = [0, 1, 1_000, 100_000].map((size) =>
        Uint8Array.from({ length: size }, (_, index) => (index * 31) % 256),
      );
      const entries = payloads.map((payload) => ({ kind: "message" as const, at: 1, payload }));
      await appendEntries(store, "s", entries);
      for (const [index, payload] of payloads.entries()) {
        assert.deepEqual(
          Buffer.from((await store.entries.get("s", index + 1))?.payload ?? []),
          Buffer.from(payload),
        );
      }
    },
  ],
  [
    "entries: listeners are notified of commits until they stop",
    async (store) => {
      await makeSession(store, "s");
      let heard = 0;
      const stop = store.onCommit(() => heard++);
      await appendEntries(store, "s", ["1"]);
      for (let waitedMs = 0; heard === 0 && waitedMs < 5_000; waitedMs += 20)
        await new Promise((resolve) => setTimeout(resolve, 20));
      assert.ok(heard > 0);
      stop();
      const before = heard;
      await appendEntries(store, "s", ["2"]);
      assert.equal(heard, before);
    },
  ],
];

const ONE = "11".repeat(16);
const TWO = "22".repeat(16);
const THREE = "33".repeat(16);

/** Keys of entries. */
export const placeCases: readonly StoreProof[] = [
  [
    "places: an entry is found by the keys of its commit, and the newest session comes first",
    async (store) => {
      await makeSession(store, "a");
      await makeSession(store, "b");
      await appendEntries(store, "a", ["x", { ...buildMessageEntry("y"), places: [ONE, TWO] }]);
      await appendEntries(store, "b", [{ ...buildMessageEntry("z"), places: [TWO, TWO] }]);
      assert.deepEqual(await store.places.find([TWO, ONE, THREE], 10), [
        { key: TWO, session: "b", seq: 1 },
        { key: TWO, session: "a", seq: 2 },
        { key: ONE, session: "a", seq: 2 },
      ]);
      assert.deepEqual(await store.places.find([TWO], 1), [{ key: TWO, session: "b", seq: 1 }]);
      assert.deepEqual(await store.places.find([], 1), []);
      await appendEntries(store, "b", [{ ...buildMessageEntry("z"), places: [THREE] }]);
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
    "places: keys can be added to existing entries only",
    async (store) => {
      await makeSession(store, "old");
      await makeSession(store, "empty");
      await appendEntries(store, "old", ["x"]);
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
    "places: a redacted entry and a deleted session are no longer found by a key",
    async (store) => {
      await makeSession(store, "a");
      await makeSession(store, "b");
      const entries = [
        { ...buildMessageEntry("x"), places: [ONE] },
        { ...buildMessageEntry("y"), places: [TWO] },
      ];
      await appendEntries(store, "a", entries);
      await appendEntries(store, "b", entries);
      await store.entries.redact("a", [{ seq: 1, payload: Buffer.from("gone") }]);
      await store.sessions.delete("b");
      assert.deepEqual(await store.places.find([ONE, TWO], 10), [{ key: TWO, session: "a", seq: 2 }]);
      await makeSession(store, "b");
      assert.deepEqual(await store.places.ofSession("b"), []);
    },
  ],
];

const draft = (text: string, at = 1) => ({
  id: "d",
  session: "s",
  owner: "me",
  at,
  payload: Buffer.from(text),
});

export const draftCases: readonly StoreProof[] = [
  [
    "drafts: the last write counts",
    async (store) => {
      await makeSession(store, "s");
      await store.drafts.write(draft("one", 1));
      await store.drafts.write(draft("two", 2));
      const drafts = await store.drafts.list("s");
      assert.deepEqual(
        drafts.map((found) => [found.id, found.session, found.owner, found.at, readPayloadText(found)]),
        [["d", "s", "me", 2, "two"]],
      );
    },
  ],
  [
    "drafts: sessions with drafts are listed once each",
    async (store) => {
      for (const id of ["s", "t", "u"]) await makeSession(store, id);
      await store.drafts.write(draft("one"));
      await store.drafts.write({ ...draft("two"), id: "e" });
      await store.drafts.write({ ...draft("three"), id: "f", session: "t" });
      assert.deepEqual([...(await store.drafts.sessions())].sort(), ["s", "t"]);
    },
  ],
  [
    "drafts: an append that finishes a draft removes it, and a second one is refused",
    async (store) => {
      await makeSession(store, "s");
      await store.drafts.write(draft("one"));
      await appendEntries(store, "s", ["done"], { finishes: "d" });
      assert.deepEqual(await store.drafts.list("s"), []);
      const again = { session: "s", entries: [buildMessageEntry("again")], finishes: "d" };
      await assertRefused(store, again, "DRAFT_FINISHED");
      assert.equal((await store.entries.head("s")).seq, 1);
    },
  ],
  [
    "drafts: deleting a draft says whether it existed, and a missing session is refused",
    async (store) => {
      await assertRejects(store.drafts.write(draft("x")), "SESSION_NOT_FOUND");
      await makeSession(store, "s");
      await store.drafts.write(draft("x"));
      assert.equal(await store.drafts.delete("d"), true);
      assert.equal(await store.drafts.delete("d"), false);
    },
  ],
  [
    "drafts: a draft keeps the blobs that it refers to",
    async (store) => {
      await makeSession(store, "s");
      const { digest, hold } = await writeBlob(store, "picture");
      await store.drafts.write({ ...draft("x"), blobs: [digest], holds: [hold] });
      await store.blobs.collect();
      assert.equal(await readBlob(store, digest), "picture");
      await store.drafts.delete("d");
      await store.blobs.collect();
      assert.equal(await store.blobs.sizeOf(digest), undefined);
    },
  ],
];
