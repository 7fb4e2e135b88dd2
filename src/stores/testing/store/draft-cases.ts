import assert from "node:assert/strict";
import {
  appendRequest,
  assertRefused,
  assertRejects,
  buildMessageEntry,
  makeSession,
  readBlob,
  readPayloadText,
  writeBlob,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

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
    "drafts: the sessions that have some are listed, each once",
    async (store) => {
      for (const id of ["s", "t", "u"]) await makeSession(store, id);
      await store.drafts.write(draft("one"));
      await store.drafts.write({ ...draft("two"), id: "e" });
      await store.drafts.write({ ...draft("three"), id: "f", session: "t" });
      assert.deepEqual([...(await store.drafts.sessions())].sort(), ["s", "t"]);
    },
  ],
  [
    "drafts: an append that finishes one removes it, once",
    async (store) => {
      await makeSession(store, "s");
      await store.drafts.write(draft("one"));
      await appendRequest(store, { session: "s", entries: [buildMessageEntry("done")], finishes: "d" });
      assert.deepEqual(await store.drafts.list("s"), []);
      await assertRefused(
        store,
        { session: "s", entries: [buildMessageEntry("again")], finishes: "d" },
        "DRAFT_FINISHED",
      );
      assert.equal((await store.entries.head("s")).seq, 1);
    },
  ],
  [
    "drafts: deleting says whether there was one, and a missing session is refused",
    async (store) => {
      await assertRejects(store.drafts.write(draft("x")), "SESSION_NOT_FOUND");
      await makeSession(store, "s");
      await store.drafts.write(draft("x"));
      assert.equal(await store.drafts.delete("d"), true);
      assert.equal(await store.drafts.delete("d"), false);
    },
  ],
  [
    "drafts: keep the blobs they refer to",
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
