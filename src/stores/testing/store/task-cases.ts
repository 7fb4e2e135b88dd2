import assert from "node:assert/strict";
import type { NewEntry } from "../../../log/store/entry-store.ts";
import type { Store } from "../../../log/store/store.ts";
import type { NewTask, TaskChange } from "../../../log/store/task-store.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import {
  appendEntries,
  assertRefused,
  assertRejects,
  buildFullQuery,
  makeSession,
} from "./store-fixtures.ts";
import type { StoreProof } from "./store-proof.ts";

const newTask = (id: string, changes: Partial<NewTask> = {}): NewTask => ({
  id,
  agent: "agent",
  state: "running",
  mode: "background",
  owner: "a",
  epoch: 1,
  canResume: false,
  resumes: 0,
  attempts: 0,
  createdAt: 5,
  ...changes,
});

const entry = (at = 10): NewEntry => ({ kind: "task", at, payload: Buffer.from("note") });

const lease = (owner: string, expiresAt: number) => ({ name: "work", owner, expiresAt });

export const leaseCases: readonly StoreProof[] = [
  [
    "leases: a lease has one owner at a time, who can renew and release it",
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
    "leases: an expired lease can be claimed by anyone, and renewed by nobody else",
    async (store) => {
      await store.leases.claim(lease("a", 100), 0);
      assert.equal(await store.leases.claim(lease("b", 300), 100), undefined);
      assert.deepEqual(await store.leases.claim(lease("a", 400), 150), lease("b", 300));
    },
  ],
  [
    "leases: the leases whose names begin alike are listed, expired ones too",
    async (store) => {
      const named = (name: string) => ({ ...lease("a", 100), name });
      for (const name of ["work", "work 2", "wor_ 3", "other"]) await store.leases.claim(named(name), 0);
      assert.deepEqual(await store.leases.list("work"), [named("work"), named("work 2")]);
      assert.deepEqual(await store.leases.list("wor_"), [named("wor_ 3")]);
    },
  ],
  [
    "leases: ended leases can be dropped, and others stay",
    async (store) => {
      await store.leases.claim(lease("a", 100), 0);
      await store.leases.claim({ ...lease("b", 300), name: "other" }, 0);
      assert.equal(await store.leases.dropExpired(200), 1);
      assert.equal(await store.leases.get("work"), undefined);
      assert.deepEqual(await store.leases.get("other"), { ...lease("b", 300), name: "other" });
    },
  ],
  [
    "leases: one of many simultaneous claims succeeds",
    async (store) => {
      const owners = Array.from({ length: 20 }, (_, index) => `owner ${index}`);
      const claims = await Promise.all(owners.map((owner) => store.leases.claim(lease(owner, 100), 0)));
      assert.equal(claims.filter((known) => known === undefined).length, 1);
    },
  ],
];

export const ledgerCases: readonly StoreProof[] = [
  [
    "ledger: rows are found by kind and id, replaced, listed by id and removed",
    async ({ ledger }) => {
      await ledger.put("skipped", [
        { id: "b", value: "1" },
        { id: "a", value: "2" },
        { id: "ä\n1", value: "3" },
      ]);
      await ledger.put("erased", [{ id: "a", value: "of another kind" }]);
      await ledger.put("skipped", [{ id: "b", value: "4" }]);
      await ledger.put("skipped", []);
      const all = [
        { id: "a", value: "2" },
        { id: "b", value: "4" },
        { id: "ä\n1", value: "3" },
      ];
      assert.deepEqual(await ledger.list("skipped", { limit: 10 }), all);
      assert.deepEqual(await ledger.list("skipped", { after: "a", limit: 1 }), all.slice(1, 2));
      assert.deepEqual(await ledger.find("skipped", ["nobody", "b"]), all.slice(1, 2));
      await ledger.remove("skipped", ["a", "nobody"]);
      assert.deepEqual(await ledger.list("skipped", { limit: 10 }), all.slice(1));
      assert.equal((await ledger.list("erased", { limit: 10 })).length, 1);
    },
  ],
];

async function makeTask(store: Store, id: string, changes: Partial<NewTask> = {}): Promise<void> {
  const create = { id: `session of ${id}`, createdAt: 1 };
  await appendEntries(store, create.id, [entry()], { create, task: { create: newTask(id, changes) } });
}

const change = (store: Store, id: string, rest: Omit<TaskChange, "id">) =>
  appendEntries(store, `session of ${id}`, [entry()], { task: { id, ...rest } });

/** Creation, change and fencing of tasks together with entries. */
export const taskCases: readonly StoreProof[] = [
  [
    "tasks: a task is created with its session and first entry, all or nothing",
    async (store) => {
      await makeTask(store, "t", { parent: "p", parentSession: "q", deadlineAt: 99, canResume: true });
      assert.deepEqual(await store.tasks.get("t"), {
        ...newTask("t", { parent: "p", parentSession: "q", deadlineAt: 99, canResume: true }),
        session: "session of t",
        firstSeq: 1,
        lastSeq: 0,
        noticeSeq: 0,
      });
      const again = { session: "session of t", entries: [entry()], task: { create: newTask("t") } };
      await assertRefused(store, again, "TASK_CONFLICT");
      assert.equal((await store.entries.head("session of t")).seq, 1);
      assert.equal(await store.tasks.get("u"), undefined);
    },
  ],
  [
    "tasks: a task of a queue keeps queue and person, and may change whether it can be resumed",
    async (store) => {
      const waiting = { queue: "q", person: "ada", state: "queued", canResume: true } as const;
      const { owner: _, ...task } = newTask("t", waiting);
      const create = { id: "s", createdAt: 1 };
      await appendEntries(store, "s", [entry()], { create, task: { create: task } });
      const [found] = await store.tasks.openOf(undefined, { limit: 10 });
      assert.deepEqual([found?.queue, found?.person, found?.canResume], ["q", "ada", true]);
      const set = { owner: "b", epoch: 2, canResume: false } as const;
      const taken = await store.tasks.change({ id: "t", expect: { epoch: 1 }, set });
      assert.deepEqual([taken.owner, taken.canResume, taken.queue], ["b", false, "q"]);
      const free = await store.tasks.change({
        id: "t",
        expect: { epoch: 2 },
        set: { owner: undefined, epoch: 3 },
      });
      assert.deepEqual([free.owner, free.canResume, free.person], [undefined, false, "ada"]);
    },
  ],
  [
    "tasks: a change is refused, entries included, unless the task is in the expected state",
    async (store) => {
      await makeTask(store, "t");
      await change(store, "t", { expect: { epoch: 1, state: "running" }, set: { state: "detaching" } });
      await change(store, "t", { expect: { epoch: 1 } });
      const session = "session of t";
      const refused = (expect: TaskChange["expect"]) => {
        const request = { session, entries: [entry()], task: { id: "t", expect, set: {} } };
        return assertRefused(store, request, "TASK_CONFLICT");
      };
      await refused({ epoch: 2 });
      await refused({ epoch: 1, state: "running" });
      await refused({ epoch: 1, notice: "due" });
      const fenced = { session, entries: [entry()], task: { id: "t", expect: { epoch: 2 } } };
      await assertRefused(store, fenced, "TASK_CONFLICT");
      assert.equal((await store.entries.read(session, buildFullQuery())).length, 3);
      await change(store, "t", {
        expect: { epoch: 1 },
        set: { state: "completed", epoch: 2, notice: "due", settledAt: 7 },
        marks: "last",
      });
      await change(store, "t", {
        expect: { epoch: 2, notice: "due" },
        set: { notice: "done" },
        marks: "notice",
      });
      const ended = await store.tasks.get("t");
      assert.deepEqual(
        [ended?.state, ended?.lastSeq, ended?.noticeSeq, ended?.settledAt],
        ["completed", 4, 5, 7],
      );
      await assertRejects(
        store.tasks.change({ id: "t", expect: { epoch: 1 }, set: { attempts: 1 } }),
        "TASK_CONFLICT",
      );
    },
  ],
  [
    "tasks: one of many simultaneous moves succeeds",
    async (store) => {
      await makeTask(store, "t");
      const owners = Array.from({ length: 20 }, (_, index) => `owner ${index}`);
      const requests = owners.map((owner) => ({
        session: "session of t",
        entries: [entry()],
        task: { id: "t", expect: { epoch: 1 }, set: { epoch: 2, owner } },
      }));
      const outcomes = await Promise.all(requests.map((request) => store.entries.append([request])));
      assert.equal(outcomes.filter(([outcome]) => !(outcome instanceof Error)).length, 1);
      assert.equal((await store.entries.head("session of t")).seq, 2);
    },
  ],
  [
    "tasks: open tasks are listed by owner until their notice is delivered",
    async (store) => {
      await makeTask(store, "1");
      await makeTask(store, "2");
      await makeTask(store, "3", { owner: "b" });
      await appendEntries(store, "session of 1", [entry()], {
        task: { create: { ...newTask("4", { state: "queued" }), owner: undefined } as unknown as NewTask },
      });
      assert.deepEqual([...(await store.tasks.owners())].sort(), ["a", "b", undefined]);
      const ids = async (owner: string | undefined, after?: string) =>
        (await store.tasks.openOf(owner, { limit: 10, ...dropUndefined({ after }) })).map(({ id }) => id);
      assert.deepEqual(await ids("a"), ["1", "2"]);
      assert.deepEqual(await ids("a", "1"), ["2"]);
      assert.deepEqual(await ids(undefined), ["4"]);
      await change(store, "3", { expect: { epoch: 1 }, set: { state: "failed", notice: "told" } });
      assert.deepEqual(await ids("b"), ["3"]);
      await change(store, "3", { expect: { epoch: 1 }, set: { notice: "done" } });
      assert.deepEqual(await ids("b"), []);
    },
  ],
  [
    "tasks: a wish is kept for the owner, and a kill outranks a detach and holds until the end",
    async (store) => {
      await makeTask(store, "t");
      assert.equal((await store.tasks.request("t", "detach"))?.wish, "detach");
      assert.equal((await store.tasks.request("t", "kill", "why"))?.wishReason, "why");
      assert.equal((await store.tasks.request("t", "detach"))?.wish, "kill");
      assert.deepEqual(
        (await store.tasks.listRequested("a")).map(({ id }) => id),
        ["t"],
      );
      assert.deepEqual(await store.tasks.listRequested("b"), []);
      await change(store, "t", { expect: { epoch: 1 }, set: { wish: undefined, epoch: 2 } });
      assert.equal((await store.tasks.get("t"))?.wish, "kill");
      await change(store, "t", { expect: { epoch: 2 }, set: { wish: undefined, state: "killed" } });
      assert.equal((await store.tasks.get("t"))?.wish, undefined);
      assert.equal((await store.tasks.request("t", "kill"))?.wish, undefined);
      assert.equal(await store.tasks.request("unknown", "kill"), undefined);
    },
  ],
  [
    "tasks: tasks are listed newest first, by session, parent, state, queue and person",
    async (store) => {
      await makeSession(store, "empty");
      for (const id of ["1", "2", "3"]) await makeTask(store, id, id === "2" ? { parent: "1" } : {});
      await change(store, "3", { expect: { epoch: 1 }, set: { state: "completed" } });
      const ids = async (query: object) =>
        (await store.tasks.list({ limit: 10, ...query })).map(({ id }) => id);
      assert.deepEqual(await ids({}), ["3", "2", "1"]);
      assert.deepEqual(await ids({ before: "3" }), ["2", "1"]);
      assert.deepEqual(await ids({ limit: 1 }), ["3"]);
      assert.deepEqual(await ids({ parent: "1" }), ["2"]);
      assert.deepEqual(await ids({ session: "session of 2" }), ["2"]);
      assert.deepEqual(await ids({ session: "empty" }), []);
      assert.deepEqual(await ids({ states: ["running", "queued"] }), ["2", "1"]);
      await assertRejects(store.tasks.list({ limit: 1, before: "unknown" }), "TASK_NOT_FOUND");
      await makeTask(store, "4", { queue: "builds", person: "ada" });
      await makeTask(store, "5", { queue: "builds", person: "bo", parent: "1" });
      await makeTask(store, "6", { queue: "reviews", person: "ada" });
      await change(store, "6", { expect: { epoch: 1 }, set: { state: "completed" } });
      assert.deepEqual(await ids({ queue: "builds" }), ["5", "4"]);
      assert.deepEqual(await ids({ person: "ada" }), ["6", "4"]);
      assert.deepEqual(await ids({ queue: "builds", person: "ada" }), ["4"]);
      assert.deepEqual(await ids({ queue: "builds", before: "5", limit: 1 }), ["4"]);
      assert.deepEqual(await ids({ queue: "builds", parent: "1" }), ["5"]);
      assert.deepEqual(await ids({ person: "ada", session: "session of 4" }), ["4"]);
      assert.deepEqual(await ids({ person: "ada", states: ["completed"] }), ["6"]);
      assert.deepEqual(await ids({ queue: "none" }), []);
    },
  ],
  [
    "tasks: a task is deleted with its session",
    async (store) => {
      await makeTask(store, "t");
      await store.sessions.delete("session of t");
      assert.equal(await store.tasks.get("t"), undefined);
      assert.deepEqual(await store.tasks.owners(), []);
      await makeTask(store, "t");
      assert.equal((await store.tasks.get("t"))?.firstSeq, 1);
    },
  ],
];
