import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CommitQueue } from "../../src/log/commit-queue.ts";
import type { AppendRequest, EntryStore } from "../../src/log/store/entry-store.ts";
import { LonghaulError } from "../../src/model/errors.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

/** A real store that records the size of each append group. */
async function countingStore() {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.sessions.open({ id: "s", createdAt: 0 });
  const groups: number[] = [];
  const entries: EntryStore = Object.create(store.entries, {
    append: {
      value: (requests: readonly AppendRequest[]) => {
        groups.push(requests.length);
        return store.entries.append(requests);
      },
    },
  });
  return { store, entries, groups };
}

const sized =
  (text: string, changes: Partial<AppendRequest> = {}) =>
  () => ({
    request: {
      session: "s",
      entries: [{ kind: "message", at: 1, payload: Buffer.from(text) }],
      ...changes,
    } as AppendRequest,
    sizeBytes: text.length,
  });

/** An append of one of three sessions, or of one that does not exist. */
const appendCase = fc.record(
  { session: fc.constantFrom("a", "b", "c", "nobody"), isLater: fc.boolean(), expectedHead: fc.nat(6) },
  { requiredKeys: ["session", "isLater"] },
);

describe("the commit queue", () => {
  test("the commit queue puts all appends of a tick into one transaction, in order", async () => {
    const { store, entries, groups } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    const appended = await Promise.all(
      Array.from({ length: 100 }, (_, index) => queue.add(sized(`${index}`))),
    );
    expect(appended.map(({ firstSeq }) => firstSeq)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    expect(groups).toEqual([100]);
    await store.close();
  });

  test("the commit queue groups appends of concurrent loops", async () => {
    const { store, entries, groups } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    const loop = async () => {
      for (let n = 0; n < 20; n++) await queue.add(sized("x"));
    };
    await Promise.all(Array.from({ length: 16 }, loop));
    expect(groups.reduce((sum, size) => sum + size)).toBe(320);
    expect(groups.length).toBeLessThanOrEqual(30);
    await store.close();
  });

  test("the commit queue builds no payload before there is room for it, and keeps the order", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1_000);
    let made = 0;
    const text = "y".repeat(100);
    const adding = Array.from({ length: 500 }, () =>
      queue.add(() => {
        made++;
        return sized(text)();
      }),
    );
    expect(made).toBe(10);
    const appended = await Promise.all(adding);
    expect(made).toBe(500);
    expect(appended.map(({ firstSeq }) => firstSeq)).toEqual(
      Array.from({ length: 500 }, (_, index) => index + 1),
    );
    await store.close();
  });

  test("a refused request and a request that cannot be built each fail without the others", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    const outcomes = await Promise.allSettled([
      queue.add(sized("a")),
      queue.add(sized("b", { expectedHead: 7 })),
      queue.add(() => {
        throw new LonghaulError("ENTRY_TOO_LARGE", "too large");
      }),
      queue.add(sized("c")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect((await store.entries.head("s")).seq).toBe(2);
    await store.close();
  });

  test("a request that does not fit on the disk fails without the others", async () => {
    const { store, entries } = await countingStore();
    const full: EntryStore = Object.create(entries, {
      append: {
        value: async (requests: readonly AppendRequest[]) => {
          const bytes = requests
            .flatMap((request) => request.entries)
            .reduce((sum, one) => sum + one.payload.length, 0);
          if (bytes > 20) throw new LonghaulError("DISK_FULL", "full");
          return store.entries.append(requests);
        },
      },
    });
    const queue = new CommitQueue(full, 1e6);
    const texts = ["a", "b", "c".repeat(21), "d", "e", "f"];
    const outcomes = await Promise.allSettled(texts.map((text) => queue.add(sized(text))));
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      true,
      false,
      true,
      true,
      true,
    ]);
    const query = { from: 1, to: 10, limit: 10, order: "ascending" } as const;
    const stored = await store.entries.read("s", query);
    expect(stored.map(({ payload }) => Buffer.from(payload).toString())).toEqual(["a", "b", "d", "e", "f"]);
    await store.close();
  });

  test("a request with a value that the store cannot hold fails without the others", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    const tooLate = { entries: [{ kind: "message", at: 2 ** 80, payload: Buffer.from("x") }] } as const;
    const outcomes = await Promise.allSettled([
      queue.add(sized("a")),
      queue.add(sized("b", tooLate)),
      queue.add(sized("c", { create: { id: "other", createdAt: 0 }, session: "other" })),
      queue.add(sized("d")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect((await store.entries.head("s")).seq).toBe(2);
    expect((await store.entries.head("other")).seq).toBe(1);
    await store.close();
  });

  sizedTest("random appends to many sessions get the same results as one by one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(appendCase, { maxLength: 40 }), async (cases) => {
        const store = await openSqliteStore({ path: ":memory:" });
        const heads = new Map([..."abc"].map((session) => [session, 0]));
        for (const id of heads.keys()) await store.sessions.open({ id, createdAt: 0 });
        const queue = new CommitQueue(store.entries, 300);
        const adding: Promise<unknown>[] = [];
        for (const { isLater, ...changes } of cases) {
          if (isLater) await new Promise(setImmediate);
          const outcome = queue.add(sized("x".repeat(50), changes));
          adding.push(
            outcome.then(
              ({ firstSeq }) => firstSeq,
              ({ code }) => code,
            ),
          );
        }
        const expected = cases.map(({ session, expectedHead }) => {
          const head = heads.get(session) ?? 0;
          if (expectedHead !== undefined && expectedHead !== head) return "POSITION_CONFLICT";
          if (!heads.has(session)) return "SESSION_NOT_FOUND";
          heads.set(session, head + 1);
          return head + 1;
        });
        expect(await Promise.all(adding)).toEqual(expected);
        for (const [session, seq] of heads) expect((await store.entries.head(session)).seq).toBe(seq);
        await store.close();
      }),
      { numRuns: proofRounds(200, 6) },
    );
  });

  test("a loop of appends does not starve timers", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    // Without a turn for timers, only the limit ends the loop.
    const limitMs = performance.now() + 20_000;
    while (ticks <= 10 && performance.now() < limitMs) await queue.add(sized("x"));
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
    await store.close();
  });

  test("a closing commit queue waits for pending appends and refuses more", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    const adding = queue.add(sized("x"));
    await queue.close();
    await expect(adding).resolves.toMatchObject({ firstSeq: 1 });
    await expect(queue.add(sized("y"))).rejects.toMatchObject({ code: "CLOSED" });
    await store.close();
  });
});
