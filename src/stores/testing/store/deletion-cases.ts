import assert from "node:assert/strict";
import {
  appendRequest,
  assertRejects,
  buildFullQuery,
  buildMessageEntry,
  makeSession,
  readBlob,
  readPayloadText,
  writeBlob,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

/** Permanent deletion. */
export const deletionCases: readonly StoreProof[] = [
  [
    "deletion: a session goes with its entries, drafts and own blobs, and says what it freed",
    async (store) => {
      await makeSession(store, "s");
      await makeSession(store, "other");
      const own = await writeBlob(store, "own");
      const shared = await writeBlob(store, "shared");
      await appendRequest(store, {
        session: "s",
        entries: [{ ...buildMessageEntry("secret"), blobs: [own.digest, shared.digest] }],
        holds: [own.hold, shared.hold],
      });
      await appendRequest(store, {
        session: "other",
        entries: [{ ...buildMessageEntry("x"), blobs: [shared.digest] }],
      });
      await store.drafts.write({ id: "d", session: "s", owner: "me", at: 1, payload: Buffer.from("half") });
      // Whether bytes are left in the files differs from store to store.
      const { scrubbed: _, ...freed } = await store.sessions.delete("s");
      assert.deepEqual(freed, { sessions: 1, entries: 1, payloadBytes: 6, blobs: 1, blobBytes: 3 });
      assert.equal(await store.sessions.get("s"), undefined);
      assert.deepEqual(await store.entries.read("s", buildFullQuery()), []);
      assert.equal(await store.blobs.sizeOf(own.digest), undefined);
      assert.equal(await readBlob(store, shared.digest), "shared");
    },
  ],
  [
    "deletion: many entries go in steps, and the id can be used again at once",
    async (store) => {
      await makeSession(store, "s");
      for (let round = 0; round < 5; round++) {
        await appendRequest(store, {
          session: "s",
          entries: Array.from({ length: 1_000 }, () => buildMessageEntry("x")),
        });
      }
      const deleting = store.sessions.delete("s");
      assert.equal((await deleting).entries, 5_000);
      await makeSession(store, "s");
      assert.deepEqual(await store.entries.head("s"), { seq: 0, at: 0 });
      assert.deepEqual(await store.entries.read("s", buildFullQuery()), []);
    },
  ],
  [
    "deletion: whoever listens to commits is told, for nothing else would tell that there will be no more",
    async (store) => {
      await makeSession(store, "s");
      let isThere = true;
      const looking: Promise<void>[] = [];
      const look = async () => {
        isThere = (await store.sessions.get("s")) !== undefined;
      };
      const stop = store.onCommit(() => looking.push(look()));
      await store.sessions.delete("s");
      await Promise.all(looking);
      stop();
      assert.equal(isThere, false);
    },
  ],
  [
    "deletion: a session with children is refused, a missing one too",
    async (store) => {
      await makeSession(store, "parent");
      await makeSession(store, "child", "parent");
      await assertRejects(store.sessions.delete("parent"), "SESSION_HAS_CHILDREN");
      await store.sessions.delete("child");
      await store.sessions.delete("parent");
      await assertRejects(store.sessions.delete("parent"), "SESSION_NOT_FOUND");
    },
  ],
  [
    "deletion: a redacted entry keeps its place and loses its content and blobs",
    async (store) => {
      await makeSession(store, "s");
      const { digest, hold } = await writeBlob(store, "picture");
      await appendRequest(store, {
        session: "s",
        entries: [
          buildMessageEntry("a"),
          { ...buildMessageEntry("secret", 2_000), blobs: [digest] },
          buildMessageEntry("c"),
        ],
        holds: [hold],
      });
      const tombstone = { seq: 2, payload: Buffer.from("gone") };
      const { scrubbed: _, ...freed } = await store.entries.redact("s", [tombstone]);
      assert.deepEqual(freed, { sessions: 0, entries: 1, payloadBytes: 6, blobs: 1, blobBytes: 7 });
      const entry = await store.entries.get("s", 2);
      assert.deepEqual(
        [entry?.kind, entry?.at, entry && readPayloadText(entry)],
        ["redacted", 2_000, "gone"],
      );
      assert.equal(await store.blobs.sizeOf(digest), undefined);
      assert.equal((await store.entries.redact("s", [tombstone])).entries, 0);
    },
  ],
  [
    "deletion: vacuum gives space back and keeps the rest",
    async (store) => {
      await makeSession(store, "keep");
      await appendRequest(store, { session: "keep", entries: [buildMessageEntry("kept")] });
      await makeSession(store, "drop");
      await appendRequest(store, {
        session: "drop",
        entries: Array.from({ length: 500 }, () => buildMessageEntry("y".repeat(2_000))),
      });
      await store.sessions.delete("drop");
      const { freedBytes } = await store.vacuum();
      assert.ok(freedBytes > 500_000, `freed ${freedBytes}`);
      assert.equal(readPayloadText((await store.entries.get("keep", 1)) ?? buildMessageEntry("")), "kept");
    },
  ],
];
