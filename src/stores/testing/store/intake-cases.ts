import assert from "node:assert/strict";
import type { IntakeAppend } from "../../../log/store/intake-store.ts";
import {
  appendRequest,
  assertRefused,
  assertRejects,
  buildMessageEntry,
  makeSession,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

const intake = (stamp: number, ...ids: (string | undefined)[]): IntakeAppend => ({
  name: "elsewhere",
  stamp,
  records: ids.map((id) => (id === undefined ? undefined : { id })),
});

/** Records of foreign sources. */
export const intakeCases: readonly StoreProof[] = [
  [
    "intakes: one is made for a session and found again with its checkpoint",
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
    "intakes: records are taken in with the append, and the checkpoint with them",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      const entries = [buildMessageEntry("one"), buildMessageEntry("between"), buildMessageEntry("two")];
      await appendRequest(store, {
        session: "s",
        entries,
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
    "intakes: an append that does not know what was taken in before is refused, and nothing of it is kept",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      await appendRequest(store, {
        session: "s",
        entries: [buildMessageEntry("one")],
        intake: intake(0, "a"),
      });
      await assertRefused(
        store,
        { session: "s", entries: [buildMessageEntry("again")], intake: intake(0, "a") },
        "INTAKE_CONFLICT",
      );
      await assertRejects(store.intakes.save("elsewhere", 0, { checkpoint: "late" }), "INTAKE_CONFLICT");
      assert.equal((await store.entries.head("s")).seq, 1);
      assert.deepEqual(await store.intakes.get("elsewhere"), { session: "s", stamp: 1 });
    },
  ],
  [
    "intakes: a newer version of a record stands for the newer entry",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      const records = (version: string, replaces: boolean): IntakeAppend => ({
        name: "elsewhere",
        stamp: Number(version) - 1,
        records: [{ id: "a", version, replaces }],
      });
      await appendRequest(store, {
        session: "s",
        entries: [buildMessageEntry("draft")],
        intake: records("1", false),
      });
      await appendRequest(store, {
        session: "s",
        entries: [buildMessageEntry("done")],
        intake: records("2", true),
      });
      assert.deepEqual(
        [...(await store.intakes.find("elsewhere", ["a"]))],
        [["a", { seq: 2, version: "2" }]],
      );
    },
  ],
  [
    "intakes: deleting the session forgets what was taken in, so that it can come again",
    async (store) => {
      await makeSession(store, "s");
      await store.intakes.open("elsewhere", "s");
      await appendRequest(store, {
        session: "s",
        entries: [buildMessageEntry("one")],
        intake: intake(0, "a"),
      });
      await store.sessions.delete("s");
      assert.equal(await store.intakes.get("elsewhere"), undefined);
      await makeSession(store, "s");
      assert.deepEqual(await store.intakes.open("elsewhere", "s"), { session: "s", stamp: 0 });
      assert.deepEqual([...(await store.intakes.find("elsewhere", ["a"]))], []);
    },
  ],
];
