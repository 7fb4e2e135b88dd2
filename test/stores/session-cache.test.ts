import { StatementSync } from "node:sqlite";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { StoredEntry } from "../../src/log/store/entry-store.ts";
import type { Store } from "../../src/log/store/store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { startChild } from "../support/child.ts";
import { testFolder } from "../support/folder.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";
import { Random } from "../support/random.ts";
import { readSessions } from "./read-sessions.ts";

const IDS = ["a", "b", "c", "d"];
const ALL = { from: 1, to: Number.MAX_SAFE_INTEGER, limit: 1_000, order: "ascending" } as const;

const toTexts = (entries: readonly StoredEntry[]) =>
  entries.map(({ seq, kind, payload }) => `${seq} ${kind} ${Buffer.from(payload).toString()}`);

const append = (store: Store, session: string, text: string, expectedHead?: number) =>
  store.entries
    .append([
      {
        session,
        entries: [{ kind: "message", at: 1, payload: Buffer.from(text) }],
        ...(expectedHead !== undefined && { expectedHead }),
      },
    ])
    .then(([outcome]) => outcome);

/** Counts the statements that `work` executes on all connections of this process. */
async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const spies = (["get", "all", "run"] as const).map((name) => vi.spyOn(StatementSync.prototype, name));
  await work();
  const calls = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  vi.restoreAllMocks();
  return calls;
}

afterEach(() => void vi.restoreAllMocks());

/** One random write; refusals are part of the game. */
async function writeOnce(store: Store, random: Random, step: number): Promise<void> {
  const id = random.pick(IDS);
  const payload = Buffer.from(`entry ${step}`);
  const entry = { kind: "message", at: step, payload } as const;
  const other = random.pick(IDS);
  const fork = { id, createdAt: step, ...(other !== id && { parent: other, relation: "fork" as const }) };
  const kinds: (() => Promise<unknown>)[] = [
    () => store.sessions.open({ id, createdAt: step }),
    () => store.sessions.update(id, { title: `title ${step}`, meta: { step } }),
    () => store.sessions.delete(id),
    () =>
      store.entries.append([
        { session: id, entries: [{ ...entry, kind: "line" }], create: fork, expectedHead: 0 },
      ]),
    () => store.entries.append([{ session: id, entries: [entry, entry], expectedHead: random.below(4) }]),
    () => store.entries.append([{ session: id, entries: [{ ...entry, kind: "line" }] }]),
    () => store.entries.redact(id, [{ seq: 1 + random.below(3), payload: Buffer.from("gone") }]),
    () => store.leases.claim({ name: id, owner: "one", expiresAt: step }, step),
    // Several appends in one transaction; those to missing sessions are refused alone.
    () => store.entries.append(IDS.map((session) => ({ session, entries: [entry] }))),
  ];
  const appends = () => append(store, id, `text ${step}`);
  await (random.chance(0.5) ? appends : random.pick(kinds))().catch((error) => {
    if (!/SESSION_|POSITION_/.test(error.code)) throw error;
  });
}

/** All that a store says about the sessions, mostly from memory. */
async function readAll(store: Store): Promise<unknown> {
  const sessions: Record<string, unknown> = {};
  for (const id of IDS) {
    const record = await store.sessions.get(id);
    const head = await store.entries.head(id).catch(() => undefined);
    const entries = await store.entries.read(id, ALL);
    const [last] = await store.entries.read(id, { ...ALL, limit: 1, order: "descending" });
    const lines = await store.entries.read(id, { ...ALL, kinds: ["line"] });
    expect(toTexts(lines)).toEqual(toTexts(entries.filter(({ kind }) => kind === "line")));
    expect(last?.seq).toBe(entries.at(-1)?.seq);
    for (const entry of entries) expect(await store.entries.get(id, entry.seq)).toEqual(entry);
    if (record)
      sessions[id] = {
        title: record.title,
        lineSeq: record.lineSeq,
        head: head?.seq,
        entries: toTexts(entries),
      };
    else expect([head, entries]).toEqual([undefined, []]);
  }
  return sessions;
}

describe("the cache of sessions", () => {
  sizedTest(
    "the cache of sessions equals the file after random writes of two connections, even within one tick",
    async () => {
      for (let seed = 0; seed < proofRounds(60, 1); seed++) {
        const random = new Random(seed);
        const path = testFolder();
        const stores = [await openSqliteStore({ path }), await openSqliteStore({ path })];
        for (let step = 1; step <= 30; step++) {
          await writeOnce(random.pick(stores), random, step);
          const expected = readSessions(path);
          for (const store of stores) expect(await readAll(store)).toEqual(expected);
        }
        for (const store of stores) await store.close();
      }
    },
  );

  test("a read of a session in use takes one statement, which asks whether others have written", async () => {
    const store = await openSqliteStore({ path: testFolder() });
    await store.sessions.open({ id: "a", createdAt: 1 });
    await append(store, "a", "first", 0);
    await store.sessions.get("a");
    const statements = await countStatements(async () => {
      expect((await store.entries.head("a")).seq).toBe(1);
      expect(await store.sessions.get("a")).toMatchObject({ id: "a", lineSeq: 0 });
      expect(toTexts(await store.entries.read("a", ALL))).toEqual(["1 message first"]);
      expect(await store.entries.read("a", { ...ALL, from: 2 })).toEqual([]);
      expect(await store.entries.get("a", 1)).toMatchObject({ seq: 1 });
    });
    expect(statements).toBe(5);
    await store.close();
    await expect(store.entries.head("a")).rejects.toMatchObject({ code: "CLOSED" });
    await expect(store.sessions.get("a")).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("the cache of sessions stays within its limit, and is emptied on request", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const before = store.cacheBytes?.() ?? 0;
    await store.sessions.open({ id: "a", createdAt: 1 });
    const entry = { kind: "message", at: 1, payload: Buffer.alloc(4_000) } as const;
    for (let n = 0; n < 30; n++) {
      await store.entries.append([{ session: "a", entries: Array.from({ length: 100 }, () => entry) }]);
      expect((store.cacheBytes?.() ?? 0) - before).toBeLessThanOrEqual(4.1 * 1024 * 1024);
    }
    expect((store.cacheBytes?.() ?? 0) - before).toBeGreaterThan(3.9 * 1024 * 1024);
    store.dropCaches?.();
    expect(store.cacheBytes?.()).toBe(before);
    expect(await store.entries.read("a", { ...ALL, from: 2_999 })).toHaveLength(2);
    await store.close();
  });

  test("a cached session cannot be changed by a reader", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    await store.sessions.open({ id: "a", createdAt: 1, meta: { list: [1] } });
    const { meta } = (await store.sessions.get("a")) as unknown as { meta: { list: number[] } };
    expect(() => meta.list.push(2)).toThrow(TypeError);
    expect((await store.sessions.get("a"))?.meta).toEqual({ list: [1] });
    await store.close();
  });

  test("the cache of sessions equals the file after a transaction was undone", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    await store.sessions.open({ id: "a", createdAt: 1 });
    await append(store, "a", "kept");
    const broken = { kind: "message", at: 1, payload: {} as Uint8Array } as const;
    const entry = { kind: "message", at: 1, payload: Buffer.from("undone") } as const;
    const undone = store.entries.append([{ session: "a", entries: [entry, broken] }]);
    // Already undone, though nobody has heard of it.
    expect((await store.entries.head("a")).seq).toBe(1);
    await expect(undone).rejects.toThrow();
    expect(toTexts(await store.entries.read("a", ALL))).toEqual(["1 message kept"]);
    expect(await append(store, "a", "next", 1)).toMatchObject({ firstSeq: 2 });
    await store.close();
  });
});

describe("another process", () => {
  sizedTest("writes of another process are seen at once, and no append relies on an old head", async () => {
    const path = testFolder();
    const store = await openSqliteStore({ path });
    await store.sessions.open({ id: "a", createdAt: 1 });
    const other = startChild(new URL("other-writer.ts", import.meta.url), [path]);
    const ask = async (request: object) => {
      other.process.stdin?.write(`${JSON.stringify(request)}\n`);
      const { value } = await other.lines.next();
      if (!value) throw new Error(other.errors());
      return JSON.parse(value);
    };
    for (let head = 0; head < 30; head += 3) {
      expect(await append(store, "a", "ours", head)).toMatchObject({ firstSeq: head + 1 });
      expect((await store.sessions.get("a"))?.lineSeq).toBe(head);
      expect(await ask({ session: "a", kind: "message", expectedHead: head + 1 })).toEqual({
        seq: head + 2,
      });
      expect((await store.entries.head("a")).seq).toBe(head + 2);
      expect(await store.entries.get("a", head + 2)).toMatchObject({ kind: "message" });
      expect(await ask({ session: "a", kind: "line", expectedHead: head + 2 })).toEqual({ seq: head + 3 });
      // The head in memory is old, and an append that expects it is refused.
      expect(await append(store, "a", "late", head + 2)).toMatchObject({ code: "POSITION_CONFLICT" });
      expect((await store.sessions.get("a"))?.lineSeq).toBe(head + 3);
      expect(await ask({ session: "a", expectedHead: head })).toEqual({ code: "POSITION_CONFLICT" });
    }
    // Both processes count up in one session: each number is stored once.
    await store.sessions.open({ id: "b", createdAt: 1 });
    const rounds = proofRounds(1_000, 60);
    const counting = ask({ session: "b", rounds });
    for (let done = 0; done < rounds; ) {
      const { seq } = await store.entries.head("b");
      const outcome = await append(store, "b", `${seq + 1}`, seq);
      if (!(outcome instanceof Error)) done++;
      if (done % 5 === 0) await new Promise(setImmediate);
    }
    expect(await counting).toMatchObject({ done: rounds });
    const entries = await store.entries.read("b", { ...ALL, limit: 10_000 });
    expect(entries.map(({ payload }) => Number(Buffer.from(payload).toString()))).toEqual(
      Array.from({ length: rounds * 2 }, (_, index) => index + 1),
    );
    await store.close();
  });
});
