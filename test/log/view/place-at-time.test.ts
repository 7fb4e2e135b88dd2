import { describe, expect, test } from "vitest";
import type { Kernel, Session } from "../../../src/kernel/index.ts";
import type { EntryStore } from "../../../src/log/store/entry-store.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/index.ts";
import { say, testKernel, textOf, texts } from "../../support/kernel.ts";

async function timedSession(): Promise<{ kernel: Kernel; session: Session; times: Date[]; tick(): void }> {
  let now = 1_000_000;
  const kernel = await testKernel({ path: ":memory:", clock: { now: () => now } });
  const session = await kernel.session("trunk");
  const times: Date[] = [];
  for (const text of ["one", "two", "three", "four"]) {
    now += 1_000;
    times.push(new Date(now));
    await say(session, text);
  }
  const tick = () => {
    now += 1_000;
  };
  tick();
  return { kernel, session, times, tick };
}

describe("messages by their time", () => {
  test("a message can be looked up, updated and deleted by its time", async () => {
    const { session, times, tick } = await timedSession();
    const [one, two, three, four] = times as [Date, Date, Date, Date];
    expect(textOf(await session.entry(two))).toBe("two");
    await session.replace(two, { role: "user", text: "TWO" });
    expect(texts(await session.page())).toEqual(["one", "TWO", "three", "four"]);
    await session.remove(three);
    expect(texts(await session.page())).toEqual(["one", "TWO", "four"]);
    tick();
    await session.edit(four, { role: "user", text: "FOUR" });
    expect(texts(await session.page())).toEqual(["one", "TWO", "FOUR"]);
    await session.redact(one, "asked for");
    expect(await session.entry(1)).toMatchObject({ kind: "redacted", reason: "asked for" });
    await session.pin(new Date(1_005_000 + 1_000));
    await session.rewind(new Date(1_005_000));
    expect(texts(await session.page()).at(-1)).toBe("TWO");
  });

  test("a message that left the active line and a time between messages are not found", async () => {
    const { session, times } = await timedSession();
    await session.remove(times[1] as Date);
    const before = await session.head();
    for (const time of [times[1] as Date, new Date(1_001_500), new Date(0), new Date(9e12)]) {
      expect(await session.entry(time)).toBeUndefined();
      for (const attempt of [
        session.replace(time, { role: "user", text: "x" }),
        session.edit(time, { role: "user", text: "x" }),
        session.remove(time),
        session.redact(time),
        session.rewind(time),
        session.pin(time),
      ])
        await expect(attempt).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    }
    await expect(session.remove(new Date(Number.NaN))).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    expect(await session.head()).toEqual(before);
  });

  test("a time with several messages is refused, with their names", async () => {
    const { session } = await timedSession();
    await session.appendAll([
      { role: "user", text: "a" },
      { role: "assistant", text: "b" },
    ]);
    const time = new Date(1_005_000);
    await expect(session.remove(time)).rejects.toThrow(/trunk#5 and trunk#6 share it/);
    await session.remove(5);
    await session.remove(6);
    await expect(session.remove(time)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  test("a fork finds shared messages by time, and not those that its branch has left", async () => {
    const { session, times, tick } = await timedSession();
    const fork = await session.fork({ at: times[1] as Date });
    tick();
    expect(textOf(await fork.entry(times[0] as Date))).toBe("one");
    expect(await fork.entry(times[2] as Date)).toBeUndefined();
    await fork.replace(times[0] as Date, { role: "user", text: "ONE" });
    expect(texts(await fork.page())).toEqual(["ONE", "two"]);
    expect(texts(await session.page())).toEqual(["one", "two", "three", "four"]);
  });

  test("a look-up by time reads only entries of that time, however long the session is", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    let rows = 0;
    const read: EntryStore["read"] = async (session, query) => {
      const found = await store.entries.read(session, query);
      rows += found.length;
      return found;
    };
    const entries = withOwn(store.entries, { read });
    let now = 0;
    const kernel = await testKernel({ store: withOwn(store, { entries }), clock: { now: () => now } });
    const session = await kernel.session();
    for (let n = 0; n < 3_000; n++) {
      now += 10;
      void session.append({ role: "user", text: `${n}` });
    }
    await session.flush();
    for (const time of [10, 15_000, 30_000])
      expect(textOf(await session.entry(new Date(time)))).toBe(`${time / 10 - 1}`);
    expect(rows).toBe(3);
  });
});

/** The object with some of its properties replaced. */
function withOwn<T extends object>(object: T, own: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      const value = Reflect.get(name in own ? own : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
