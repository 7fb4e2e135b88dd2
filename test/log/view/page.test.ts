import { describe, expect, test } from "vitest";
import { say, testKernel, texts } from "../../support/kernel.ts";

const words = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`);

describe("a page", () => {
  test("a page shows the newest 50 entries first, and others on demand", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, ...words(1, 120));
    const newest = await session.page();
    expect(texts(newest)).toEqual(words(71, 120));
    const middle = await session.page({ before: newest.before ?? "" });
    expect(texts(middle)).toEqual(words(21, 70));
    const oldest = await session.page({ before: middle.before ?? "" });
    expect(texts(oldest)).toEqual(words(1, 20));
    expect(oldest.before).toBeUndefined();
    const back = await session.page({ after: oldest.after });
    expect(texts(back)).toEqual(words(21, 70));
    expect(texts(await session.page({ before: back.before ?? "" }))).toEqual(words(1, 20));
  });

  test("a page stays the same while entries are appended, and its end leads to the new ones", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, ...words(1, 10));
    const first = await session.page({ limit: 4 });
    await say(session, ...words(11, 13));
    expect(texts(await session.page({ limit: 4, before: first.before ?? "" }))).toEqual(words(3, 6));
    const since = await session.page({ limit: 4, after: first.after });
    expect(texts(since)).toEqual(words(11, 13));
    const nothing = await session.page({ after: since.after });
    expect(texts(nothing)).toEqual([]);
    await say(session, "14");
    expect(texts(await session.page({ after: nothing.after }))).toEqual(["14"]);
  });

  test("a page continues along its line even after a rewind", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, ...words(1, 9));
    const before = await session.page({ limit: 3 });
    await session.rewind(2);
    await say(session, "3'");
    expect(texts(await session.page({ limit: 3, before: before.before ?? "" }))).toEqual(words(4, 6));
    expect(texts(await session.page({ limit: 3, after: before.after }))).toEqual([]);
    expect(texts(await session.page({ limit: 3 }))).toEqual(["1", "2", "3'"]);
  });

  test("a page of an empty session is empty, and its end later leads to the first entry", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const empty = await session.page();
    expect(empty).toEqual({ entries: [], after: "0@" });
    await say(session, "1");
    expect(texts(await session.page({ after: empty.after }))).toEqual(["1"]);
  });

  test("a page shows messages and notices, and other kinds on request", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2");
    await session.note("something happened");
    await session.rewind(1);
    expect(texts(await session.page())).toEqual(["1"]);
    await session.choose(0);
    expect(texts(await session.page())).toEqual(["1", "2", "something happened"]);
    expect(texts(await session.page({ kinds: ["notice"] }))).toEqual(["something happened"]);
  });

  test("a page can be opened around an entry, and continued in both directions", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await say(session, ...words(1, 20));
    const middle = await session.page({ around: "s#10", limit: 6 });
    expect(texts(middle)).toEqual(words(7, 12));
    expect(texts(await session.page({ before: middle.before ?? "", limit: 4 }))).toEqual(words(3, 6));
    expect(texts(await session.page({ after: middle.after, limit: 4 }))).toEqual(words(13, 16));
    expect(texts(await session.page({ around: 1, limit: 4 }))).toEqual(words(1, 4));
    expect(texts(await session.page({ around: 20, limit: 4 }))).toEqual(words(18, 20));
    await session.rewind(5);
    await expect(session.page({ around: 10 })).rejects.toMatchObject({ code: "NOT_ON_LINE" });
  });

  test("a page finds rare kinds in a long session without blocking other work", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await session.note("first");
    for (let n = 0; n < 3; n++)
      await session.appendAll(Array.from({ length: 8_000 }, () => ({ role: "user", text: "x" })));
    await session.note("last");
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    expect(texts(await session.page({ kinds: ["notice"] }))).toEqual(["first", "last"]);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    const { before } = await session.page({ kinds: ["notice"], limit: 1 });
    expect(texts(await session.page({ kinds: ["notice"], limit: 1, before: before ?? "" }))).toEqual([
      "first",
    ]);
  });

  test("a page refuses wrong limits and cursors", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1");
    const { after } = await session.page();
    for (const options of [
      { limit: 0 },
      { limit: 1_001 },
      { limit: 1.5 },
      { before: "x" },
      { after: "" },
      { before: after, after },
      { before: "0@other#1" },
      { after: "0@x#y" },
      { kinds: [] },
      { kinds: ["message) OR (1=1" as never] },
    ]) {
      await expect(session.page(options)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    }
  });
});
