import assert from "node:assert/strict";
import { appendRequest, assertRejects, buildMessageEntry, makeSession, writeBlob } from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

export const sessionCases: readonly StoreProof[] = [
  [
    "sessions: the first open makes a session, the second finds it",
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
    "sessions: are listed newest first, page by page",
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
    "sessions: those whose ids begin alike are listed by that, page by page",
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
    "sessions: title and meta can be changed one by one",
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
    "sessions: an append can make its session, with the append or not at all",
    async (store) => {
      const create = { id: "s", createdAt: 1 };
      const [refused] = await store.entries.append([
        { session: "s", create, entries: [buildMessageEntry("x")], expectedHead: 7 },
      ]);
      assert.ok(refused instanceof Error);
      assert.equal(await store.sessions.get("s"), undefined);
      await appendRequest(store, {
        session: "s",
        create,
        entries: [buildMessageEntry("x")],
        expectedHead: 0,
      });
      assert.equal((await store.entries.head("s")).seq, 1);
    },
  ],
  [
    "sessions: sizes count entries, payloads and the blobs of one session alone",
    async (store) => {
      for (const id of ["a", "b"]) await makeSession(store, id);
      const own = await writeBlob(store, "own");
      const shared = await writeBlob(store, "shared by two");
      const write = (session: string, text: string, digests: readonly string[]) =>
        appendRequest(store, { session, entries: [{ ...buildMessageEntry(text, 2_000), blobs: digests }] });
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
