import assert from "node:assert/strict";
import type { IntakeAppend } from "../../../log/store/intake-store.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import {
  appendEntries,
  assertRefused,
  assertRejects,
  buildMessageEntry,
  makeSession,
  readBlob,
  writeBlob,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

export const blobCases: readonly StoreProof[] = [
  [
    "blobs: a blob is named by its SHA-256 and read back whole",
    async (store) => {
      const chunks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(50_000, index));
      const written = await store.blobs.write(chunks, { maxBytes: 1e9 });
      assert.equal(written.digest, computeDigest(Buffer.concat(chunks)));
      assert.equal(written.sizeBytes, 2_000_000);
      const read: Uint8Array[] = [];
      for await (const chunk of store.blobs.read(written.digest)) read.push(chunk);
      assert.ok(Buffer.concat(read).equals(Buffer.concat(chunks)));
    },
  ],
  [
    "blobs: identical bytes are stored once",
    async (store) => {
      assert.equal((await writeBlob(store, "same")).created, true);
      assert.equal((await writeBlob(store, "same")).created, false);
      assert.equal((await store.size()).blobBytes, 4);
    },
  ],
  [
    "blobs: a blob above the limit is refused, and nothing of it is kept",
    async (store) => {
      const tooMuch = [Buffer.alloc(600), Buffer.alloc(600)];
      await assertRejects(store.blobs.write(tooMuch, { maxBytes: 1_000 }), "BLOB_TOO_LARGE");
      assert.equal((await store.size()).blobBytes, 0);
    },
  ],
  [
    "blobs: a failing source leaves nothing behind",
    async (store) => {
      async function* failing() {
        yield Buffer.from("half");
        throw new Error("cut off");
      }
      await assert.rejects(store.blobs.write(failing(), { maxBytes: 1_000 }), /cut off/);
      assert.equal((await store.size()).blobBytes, 0);
    },
  ],
  [
    "blobs: a missing blob is BLOB_NOT_FOUND, also for an append",
    async (store) => {
      const digest = "0".repeat(64);
      await assertRejects(readBlob(store, digest), "BLOB_NOT_FOUND");
      assert.equal(await store.blobs.sizeOf(digest), undefined);
      await makeSession(store, "s");
      const request = { session: "s", entries: [{ ...buildMessageEntry("x"), blobs: [digest] }] };
      await assertRefused(store, request, "BLOB_NOT_FOUND");
      assert.equal((await store.entries.head("s")).seq, 0);
    },
  ],
  [
    "blobs: collecting spares blobs that are held or referenced",
    async (store) => {
      await makeSession(store, "s");
      const referred = await writeBlob(store, "referred");
      const held = await writeBlob(store, "held");
      await appendEntries(store, "s", [{ ...buildMessageEntry("x"), blobs: [referred.digest] }], {
        holds: [referred.hold],
      });
      assert.equal((await store.blobs.collect()).blobs, 0);
      assert.equal(await readBlob(store, referred.digest), "referred");
      assert.equal(await readBlob(store, held.digest), "held");
    },
  ],
  [
    "blobs: a dry run of collecting counts and removes nothing, and young blobs can be spared",
    async (store) => {
      await makeSession(store, "s");
      const { digest, hold } = await writeBlob(store, "loose");
      await store.drafts.write({
        id: "d",
        session: "s",
        owner: "me",
        at: 1,
        payload: Buffer.from("x"),
        blobs: [digest],
        holds: [hold],
      });
      await store.drafts.delete("d");
      const planned = await store.blobs.collect({ dryRun: true });
      assert.deepEqual([planned.blobs, planned.blobBytes], [1, 5]);
      assert.equal((await store.blobs.collect({ minAgeMs: 86_400_000 })).blobs, 0);
      assert.equal(await readBlob(store, digest), "loose");
      assert.equal((await store.blobs.collect()).blobs, 1);
      await assertRejects(readBlob(store, digest), "BLOB_NOT_FOUND");
    },
  ],
  [
    "blobs: writing, appending and collecting at once never loses a referenced blob",
    async (store) => {
      await makeSession(store, "s");
      const rounds = Array.from({ length: 30 }, async (_, index) => {
        const { digest, hold } = await writeBlob(store, `blob ${index % 5}`);
        await appendEntries(store, "s", [{ ...buildMessageEntry("x"), blobs: [digest] }], { holds: [hold] });
        return digest;
      });
      const collecting = Promise.all(Array.from({ length: 10 }, () => store.blobs.collect()));
      for (const digest of await Promise.all(rounds))
        assert.match(await readBlob(store, digest), /^blob \d$/);
      await collecting;
    },
  ],
];

const intake = (stamp: number, ...ids: (string | undefined)[]): IntakeAppend => ({
  name: "elsewhere",
  stamp,
  records: ids.map((id) => (id === undefined ? undefined : { id })),
});

/** Records of foreign sources. */
export const intakeCases: readonly StoreProof[] = [
  [
    "intakes: an intake is made for a session and found again with its checkpoint",
    async (store) => {
      await assertRejects(store.intakes.open("elsewhere", "s"), "SESSION_NOT_FOUND");
      await makeSession(store, "s");
      assert.equal(await store.intakes.get("elsewhere"), undefined);
      assert.deepEqual(await store.intakes.open("elsewhere", "s"), { session: "s", stamp: 0 });
      assert.equal(await store.intakes.save("elsewhere", 0, { checkpoint: "here" }), 1);
      assert.equal(await store.intakes.save("elsewhere", 1, { progress: "so far" }), 2);
      assert.deepEqual(await store.intakes.open("elsewhere", "other"), {
        session: "s",
        stamp: 2,
        checkpoint: "here",
        progress: "so far",
      });
    },
  ],
  [
    "intakes: records and checkpoint are stored in the commit of their append",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      const entries = [buildMessageEntry("one"), buildMessageEntry("between"), buildMessageEntry("two")];
      await appendEntries(store, "s", entries, {
        intake: { ...intake(0, "a", undefined, "b"), checkpoint: "there" },
      });
      assert.deepEqual(
        [...(await store.intakes.find("elsewhere", ["a", "b", "c"]))],
        [
          ["a", { seq: 1 }],
          ["b", { seq: 3 }],
        ],
      );
      assert.deepEqual(await store.intakes.get("elsewhere"), { session: "s", stamp: 1, checkpoint: "there" });
      assert.deepEqual([...(await store.intakes.find("nowhere", ["a"]))], []);
    },
  ],
  [
    "intakes: an append with an outdated stamp is refused, and stores nothing",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      await appendEntries(store, "s", ["one"], { intake: intake(0, "a") });
      const again = { session: "s", entries: [buildMessageEntry("again")], intake: intake(0, "a") };
      await assertRefused(store, again, "INTAKE_CONFLICT");
      await assertRejects(store.intakes.save("elsewhere", 0, { checkpoint: "late" }), "INTAKE_CONFLICT");
      assert.equal((await store.entries.head("s")).seq, 1);
      assert.deepEqual(await store.intakes.get("elsewhere"), { session: "s", stamp: 1 });
    },
  ],
  [
    "intakes: a record that is offered again is refused, and the other appends of its group are stored",
    async (store) => {
      await makeSession(store, "s");
      await makeSession(store, "others");
      await store.intakes.open("elsewhere", "s");
      await appendEntries(store, "s", ["one"], { intake: intake(0, "a") });
      const [again, twice, other] = await store.entries.append([
        { session: "s", entries: [buildMessageEntry("again")], intake: intake(1, "a") },
        {
          session: "s",
          entries: ["b", "b"].map((text) => buildMessageEntry(text)),
          intake: intake(1, "b", "b"),
        },
        { session: "others", entries: [buildMessageEntry("of somebody else")] },
      ]);
      for (const refused of [again, twice])
        assert.equal(refused instanceof Error && refused.code, "INTAKE_CONFLICT");
      assert.deepEqual(other instanceof Error ? other : other?.firstSeq, 1);
      assert.equal((await store.entries.head("s")).seq, 1);
      assert.deepEqual([...(await store.intakes.find("elsewhere", ["a", "b"]))], [["a", { seq: 1 }]]);
    },
  ],
  [
    "intakes: a newer version of a record refers to the newer entry",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      const records = (version: string, replaces: boolean): IntakeAppend => ({
        name: "elsewhere",
        stamp: Number(version) - 1,
        records: [{ id: "a", version, replaces }],
      });
      await appendEntries(store, "s", ["draft"], { intake: records("1", false) });
      await appendEntries(store, "s", ["done"], { intake: records("2", true) });
      assert.deepEqual(
        [...(await store.intakes.find("elsewhere", ["a"]))],
        [["a", { seq: 2, version: "2" }]],
      );
    },
  ],
  [
    "intakes: deleting the session forgets its records, so that they can be imported again",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      await appendEntries(store, "s", ["one"], { intake: intake(0, "a") });
      await store.sessions.delete("s");
      assert.equal(await store.intakes.get("elsewhere"), undefined);
      await makeSession(store, "s");
      assert.deepEqual(await store.intakes.open("elsewhere", "s"), { session: "s", stamp: 0 });
      assert.deepEqual([...(await store.intakes.find("elsewhere", ["a"]))], []);
    },
  ],
];
