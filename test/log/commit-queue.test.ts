import { describe, expect, test } from "vitest";
import { CommitQueue } from "../../src/log/commit-queue.ts";
import { LonghaulError } from "../../src/model/errors.ts";
import type { AppendRequest, EntryStore } from "../../src/store/entry-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/index.ts";

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

describe("the commit queue", () => {
  test("puts all appends of a tick into one transaction, in order", async () => {
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

  test("groups what concurrent loops append", async () => {
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

  test("makes no payload before there is room for it, and still keeps order", async () => {
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

  test("a refused request fails alone; a request that cannot be made fails alone", async () => {
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

  test("a loop of appends does not starve timers", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const endMs = performance.now() + 300;
    while (performance.now() < endMs) await queue.add(sized("x"));
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
    await store.close();
  });

  test("closing waits for what was added and refuses more", async () => {
    const { store, entries } = await countingStore();
    const queue = new CommitQueue(entries, 1e6);
    const adding = queue.add(sized("x"));
    await queue.close();
    await expect(adding).resolves.toMatchObject({ firstSeq: 1 });
    await expect(queue.add(sized("y"))).rejects.toMatchObject({ code: "CLOSED" });
    await store.close();
  });
});
