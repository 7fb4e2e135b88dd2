import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  appendEntries,
  assertRejects,
  buildFullQuery,
  buildMessageEntry,
  makeSession,
  readBlob,
  readPayloadText,
  writeBlob,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

export const sessionCases: readonly StoreProof[] = [
  [
    "sessions: the first call of open creates a session, the second one finds it",
    async (store) => {
      const first = await store.sessions.open({
        id: "s",
        createdAt: 5,
        title: "one",
        meta: { a: [1, null] },
      });
      const second = await store.sessions.open({ id: "s", createdAt: 9, title: "two" });
      assert.equal(first.created, true);
      assert.equal(second.created, false);
      assert.deepEqual(second.record, {
        id: "s",
        createdAt: 5,
        title: "one",
        meta: { a: [1, null] },
        lineSeq: 0,
      });
    },
  ],
  [
    "sessions: an unknown id is undefined, and its head is SESSION_NOT_FOUND",
    async (store) => {
      assert.equal(await store.sessions.get("nobody"), undefined);
      await assertRejects(store.entries.head("nobody"), "SESSION_NOT_FOUND");
      await assertRejects(store.sessions.update("nobody", { title: "x" }), "SESSION_NOT_FOUND");
    },
  ],
  [
    "sessions: sessions are listed newest first, page by page",
    async (store) => {
      for (const id of ["a", "b", "c", "d"]) await makeSession(store, id);
      const first = await store.sessions.list({ limit: 3 });
      const rest = await store.sessions.list({ limit: 3, before: first.at(-1)?.id ?? "" });
      assert.deepEqual(
        [...first, ...rest].map(({ id }) => id),
        ["d", "c", "b", "a"],
      );
    },
  ],
  [
    "sessions: sessions with a common prefix of their ids are listed by that prefix, page by page",
    async (store) => {
      for (const id of ["one/a", "two/a", "one/b", "one", "one0", "one/\u{1f600}"])
        await makeSession(store, id);
      const first = await store.sessions.list({ limit: 2, prefix: "one/" });
      const rest = await store.sessions.list({ limit: 2, prefix: "one/", before: first.at(-1)?.id ?? "" });
      assert.deepEqual(
        [...first, ...rest].map(({ id }) => id),
        ["one/\u{1f600}", "one/b", "one/a"],
      );
    },
  ],
  [
    "sessions: a parent lists its children, and a missing parent is refused",
    async (store) => {
      await makeSession(store, "parent");
      await makeSession(store, "child", "parent");
      await makeSession(store, "other");
      const children = await store.sessions.list({ limit: 10, parent: "parent" });
      assert.deepEqual(
        children.map(({ id, parent }) => [id, parent]),
        [["child", "parent"]],
      );
      await assertRejects(makeSession(store, "orphan", "nobody"), "SESSION_NOT_FOUND");
      assert.equal(await store.sessions.get("orphan"), undefined);
    },
  ],
  [
    "sessions: title and metadata can be changed separately",
    async (store) => {
      await store.sessions.open({ id: "s", createdAt: 1, title: "old", meta: { keep: true } });
      await store.sessions.update("s", { title: "new" });
      assert.deepEqual(await store.sessions.get("s"), {
        id: "s",
        createdAt: 1,
        title: "new",
        meta: { keep: true },
        lineSeq: 0,
      });
    },
  ],
  [
    "sessions: changes that depend on the present record lose nothing of each other",
    async (store) => {
      await store.sessions.open({ id: "s", createdAt: 1, meta: { kept: true } });
      const names = Array.from({ length: 10 }, (_, index) => `field ${index}`);
      await Promise.all(
        names.map((name) => store.sessions.update("s", ({ meta }) => ({ meta: { ...meta, [name]: 1 } }))),
      );
      const { meta } = (await store.sessions.get("s")) ?? {};
      assert.deepEqual(Object.keys(meta ?? {}).toSorted(), [...names, "kept"]);
      await assertRejects(
        store.sessions.update("nobody", () => ({ title: "x" })),
        "SESSION_NOT_FOUND",
      );
    },
  ],
  [
    "sessions: an append can create its session, in the same commit or not at all",
    async (store) => {
      const create = { id: "s", createdAt: 1 };
      const [refused] = await store.entries.append([
        { session: "s", create, entries: [buildMessageEntry("x")], expectedHead: 7 },
      ]);
      assert.ok(refused instanceof Error);
      assert.equal(await store.sessions.get("s"), undefined);
      await appendEntries(store, "s", ["x"], { create, expectedHead: 0 });
      assert.equal((await store.entries.head("s")).seq, 1);
    },
  ],
  [
    "sessions: sizes count entries, payloads and the blobs of that session only",
    async (store) => {
      for (const id of ["a", "b"]) await makeSession(store, id);
      const own = await writeBlob(store, "own");
      const shared = await writeBlob(store, "shared by two");
      const write = (session: string, text: string, digests: readonly string[]) =>
        appendEntries(store, session, [{ ...buildMessageEntry(text, 2_000), blobs: digests }]);
      await write("a", "one", [own.digest, shared.digest]);
      await write("b", "three", [shared.digest]);
      const sizes: object[] = [];
      for await (const size of store.sessions.sizes()) sizes.push(size);
      assert.deepEqual(sizes, [
        { session: "a", entries: 1, payloadBytes: 3, blobBytes: 3, usedAt: 2_000 },
        { session: "b", entries: 1, payloadBytes: 5, blobBytes: 0, usedAt: 2_000 },
      ]);
    },
  ],
];

/** Permanent deletion. */
export const deletionCases: readonly StoreProof[] = [
  [
    "deletion: a session is deleted with its entries, drafts and own blobs, and the freed sizes are returned",
    async (store) => {
      await makeSession(store, "s");
      await makeSession(store, "other");
      const own = await writeBlob(store, "own");
      const shared = await writeBlob(store, "shared");
      const secret = { ...buildMessageEntry("secret"), blobs: [own.digest, shared.digest] };
      await appendEntries(store, "s", [secret], { holds: [own.hold, shared.hold] });
      await appendEntries(store, "other", [{ ...buildMessageEntry("x"), blobs: [shared.digest] }]);
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
    "deletion: many entries are deleted in steps, and the id can be used again at once",
    async (store) => {
      await makeSession(store, "s");
      for (let round = 0; round < 5; round++) {
        await appendEntries(store, "s", Array<string>(1_000).fill("x"));
      }
      const deleting = store.sessions.delete("s");
      assert.equal((await deleting).entries, 5_000);
      await makeSession(store, "s");
      assert.deepEqual(await store.entries.head("s"), { seq: 0, at: 0 });
      assert.deepEqual(await store.entries.read("s", buildFullQuery()), []);
    },
  ],
  [
    "deletion: listeners of commits are notified, because no commit of the session will follow",
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
    "deletion: a session with children is refused, as is a missing one",
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
      const secret = { ...buildMessageEntry("secret", 2_000), blobs: [digest] };
      await appendEntries(store, "s", ["a", secret, "c"], { holds: [hold] });
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
    "deletion: vacuum frees space and keeps everything else",
    async (store) => {
      await makeSession(store, "keep");
      await appendEntries(store, "keep", ["kept"]);
      await makeSession(store, "drop");
      await appendEntries(store, "drop", Array<string>(500).fill("y".repeat(2_000)));
      await store.sessions.delete("drop");
      let freedBytes = 0;
      // Rows stay as long as a transaction of somebody else may still see them.
      for (let tries = 0; tries < 50 && freedBytes <= 500_000; tries++) {
        if (tries > 0) await sleep(100);
        freedBytes += (await store.vacuum()).freedBytes;
      }
      assert.ok(freedBytes > 500_000, `freed ${freedBytes}`);
      assert.equal(readPayloadText((await store.entries.get("keep", 1)) ?? buildMessageEntry("")), "kept");
    },
  ],
];
