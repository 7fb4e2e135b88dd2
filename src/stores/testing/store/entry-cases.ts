import assert from "node:assert/strict";
import {
  appendRequest,
  assertRefused,
  buildFullQuery,
  buildMessageEntry,
  makeSession,
  readPayloadText,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

export const entryCases: readonly StoreProof[] = [
  [
    "entries: seqs count from one without gaps, in each session by itself",
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
    "entries: times never decrease, and come back as they were stored",
    async (store) => {
      await makeSession(store, "s");
      const { ats } = await appendRequest(store, {
        session: "s",
        entries: [buildMessageEntry("x", 50), buildMessageEntry("y", 20), buildMessageEntry("z", 60)],
      });
      assert.deepEqual(ats, [50, 50, 60]);
      await appendRequest(store, { session: "s", entries: [buildMessageEntry("w", 1)] });
      assert.deepEqual(await store.entries.head("s"), { seq: 4, at: 60 });
      assert.equal((await store.entries.get("s", 2))?.at, 50);
    },
  ],
  [
    "entries: a request that is refused leaves the others of its group alone",
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
    "entries: an append that expects another head is refused with what it found",
    async (store) => {
      await makeSession(store, "s");
      await appendRequest(store, { session: "s", entries: [buildMessageEntry("1")], expectedHead: 0 });
      await assertRefused(
        store,
        { session: "s", entries: [buildMessageEntry("2")], expectedHead: 0 },
        "POSITION_CONFLICT",
      );
      assert.equal((await store.entries.head("s")).seq, 1);
    },
  ],
  [
    "entries: are read in both directions, bounded, from any place, by kind",
    async (store) => {
      await makeSession(store, "s");
      const entries = Array.from({ length: 9 }, (_, index) => ({
        ...buildMessageEntry(`${index + 1}`),
        kind: index % 3 === 2 ? ("notice" as const) : ("message" as const),
      }));
      await appendRequest(store, { session: "s", entries });
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
    "entries: one is found by its seq, and a missing one is undefined",
    async (store) => {
      await makeSession(store, "s");
      await appendRequest(store, { session: "s", entries: [buildMessageEntry("only")] });
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
      await appendRequest(store, {
        session: "s",
        entries: [10, 20, 20, 20, 35, 1_000_000].map((at) => buildMessageEntry("x", at)),
      });
      const found = await Promise.all(
        [9, 10, 19, 20, 34, 35, 999_999, 1_000_000, 2e12].map((at) => store.entries.seqAt("s", at)),
      );
      assert.deepEqual(found, [0, 1, 1, 4, 4, 5, 5, 6, 6]);
    },
  ],
  [
    "entries: the newest one of kind line becomes the session's line",
    async (store) => {
      await makeSession(store, "s");
      await appendRequest(store, {
        session: "s",
        entries: [
          buildMessageEntry("1"),
          { ...buildMessageEntry("line"), kind: "line" },
          buildMessageEntry("3"),
        ],
      });
      assert.equal((await store.sessions.get("s"))?.lineSeq, 2);
    },
  ],
  [
    "entries: payloads come back byte for byte, empty and large ones too",
    async (store) => {
      await makeSession(store, "s");
      const payloads = [0, 1, 1_000, 100_000].map((size) =>
        Uint8Array.from({ length: size }, (_, index) => (index * 31) % 256),
      );
      await appendRequest(store, {
        session: "s",
        entries: payloads.map((payload) => ({ kind: "message", at: 1, payload })),
      });
      for (const [index, payload] of payloads.entries()) {
        assert.deepEqual(
          Buffer.from((await store.entries.get("s", index + 1))?.payload ?? []),
          Buffer.from(payload),
        );
      }
    },
  ],
  [
    "entries: listeners hear of commits until they stop",
    async (store) => {
      await makeSession(store, "s");
      let heard = 0;
      const stop = store.onCommit(() => heard++);
      await appendRequest(store, { session: "s", entries: [buildMessageEntry("1")] });
      for (let waitedMs = 0; heard === 0 && waitedMs < 5_000; waitedMs += 20)
        await new Promise((resolve) => setTimeout(resolve, 20));
      assert.ok(heard > 0);
      stop();
      const before = heard;
      await appendRequest(store, { session: "s", entries: [buildMessageEntry("2")] });
      assert.equal(heard, before);
    },
  ],
];
