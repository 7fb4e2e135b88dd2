import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, testKernel, texts } from "../support/kernel.ts";

describe("a draft", () => {
  test("a draft grows in pieces and becomes one message", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const draft = session.draft({
      role: "assistant",
      parts: [{ type: "reasoning", text: "hm" }],
      model: "m",
    });
    for (const piece of ["Hel", "lo", " there"]) draft.write(piece);
    expect(draft.content.parts).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Hello there" },
    ]);
    const entry = await draft.finish();
    expect(entry.message).toEqual({
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Hello there" },
      ],
      model: "m",
    });
    expect((await session.head()).seq).toBe(1);
    expect(() => draft.write("more")).toThrow(expect.objectContaining({ code: "DRAFT_FINISHED" }));
    await expect(draft.finish()).rejects.toMatchObject({ code: "DRAFT_FINISHED" });
    await expect(draft.discard()).rejects.toMatchObject({ code: "DRAFT_FINISHED" });
  });

  test("a draft is written at most once per interval, however often it is updated", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    let writes = 0;
    const write = store.drafts.write.bind(store.drafts);
    store.drafts.write = (draft) => {
      writes++;
      return write(draft);
    };
    const kernel = await testKernel({ store, limits: { draftIntervalMs: 100 } });
    const session = await kernel.session();
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const draft = session.draft({ role: "assistant", text: "" });
    for (let ms = 0; ms < 450; ms++) {
      for (let n = 0; n < 100; n++) draft.write("token ");
      await vi.advanceTimersByTimeAsync(1);
    }
    await draft.finish();
    // At most one at once, and one after each interval.
    expect(writes).toBeGreaterThanOrEqual(2);
    expect(writes).toBeLessThanOrEqual(5);
    expect(await session.drafts()).toEqual([]);
  });

  test("another process can see a draft while it grows, and it is gone when finished", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const other = await testKernel({ path });
    const watching = await other.session("s");
    const draft = session.draft({ role: "assistant", text: "so far" });
    await session.flush();
    expect(await watching.drafts()).toMatchObject([
      { id: draft.id, body: { message: { interrupted: true, parts: [{ text: "so far" }] } } },
    ]);
    await draft.finish({ role: "assistant", text: "all of it" });
    expect(await watching.drafts()).toEqual([]);
    expect(texts(await watching.page())).toEqual(["all of it"]);
  });

  test("a discarded draft leaves nothing", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const draft = session.draft({ role: "assistant", text: "x" });
    await draft.flush();
    await draft.discard();
    expect(await session.drafts()).toEqual([]);
    expect((await session.head()).seq).toBe(0);
  });

  test("an unfinished draft is kept as interrupted when its session closes", async () => {
    const path = testFolder();
    const kernel = await openKernel({ path });
    const session = await kernel.session("s");
    session.draft({ role: "assistant", text: "half a sen" });
    session.draft({ role: "assistant", text: "" });
    await kernel.close();
    expect(kernel.counts().draft).toEqual({ opened: 2, closed: 2 });
    const again = await testKernel({ path });
    const page = await (await again.session("s")).page();
    expect(page.entries).toMatchObject([{ message: { interrupted: true, parts: [{ text: "half a sen" }] } }]);
  });

  test("a draft can hold data, and its blobs stay until it ends", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const data = Buffer.from("%PDF-1.7 some document");
    const draft = session.draft({ role: "assistant", parts: [{ type: "data", data, name: "report.pdf" }] });
    await draft.flush();
    expect((await kernel.collectGarbage()).blobs).toBe(0);
    const { message } = await draft.finish();
    expect(message.parts).toMatchObject([
      { type: "blob", mime: "application/pdf", sizeBytes: data.length, name: "report.pdf" },
    ]);
    expect((await kernel.collectGarbage()).blobs).toBe(0);
  });

  test("the kept part and the whole of a draft are both stored if its writer was wrongly taken for dead", async () => {
    const { kernel, path } = await diskKernel();
    const session = await kernel.session("s");
    const draft = session.draft({ role: "assistant", text: "half" });
    await draft.flush();
    // Another machine that cannot see this process, and whose clock says that the lease expired long ago.
    const store = await openSqliteStore({ path });
    await store.drafts.write({
      id: draft.id,
      session: "s",
      owner: "elsewhere|1|x",
      at: 0,
      payload: (await store.drafts.list("s"))[0]?.payload ?? new Uint8Array(),
    });
    const other = await testKernel({ store });
    await other.session("s");
    await draft.finish({ role: "assistant", text: "half and more" });
    const { entries } = await session.page();
    expect(entries).toMatchObject([
      { message: { interrupted: true, parts: [{ text: "half" }] } },
      { message: { parts: [{ text: "half and more" }] } },
    ]);
  });

  test("a draft can be finished even if an earlier write failed", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const write = store.drafts.write.bind(store.drafts);
    store.drafts.write = () => Promise.reject(new Error("no room for now"));
    const kernel = await testKernel({ store });
    const session = await kernel.session();
    const draft = session.draft({ role: "assistant", text: "half" });
    await expect(draft.flush()).rejects.toThrow("no room for now");
    store.drafts.write = write;
    draft.write(" and whole");
    await draft.flush();
    expect(await session.drafts()).toHaveLength(1);
    await draft.finish();
    expect(texts(await session.page())).toEqual(["half and whole"]);
  });

  test("a draft refuses a stream, because it is written more than once", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("once");
    }
    const draft = session.draft({ role: "assistant", text: "" });
    expect(() => draft.update({ role: "assistant", parts: [{ type: "data", data: stream() }] })).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID" }),
    );
    await draft.discard();
  });

  test("a draft with a failed last write stays open and can be finished again", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const draft = session.draft({ role: "assistant", text: "fine" });
    await expect(
      draft.finish({ role: "assistant", text: "x", meta: { big: 1n as never } }),
    ).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await draft.finish({ role: "assistant", text: "fine after all" });
    expect(texts(await session.page())).toEqual(["fine after all"]);
  });
});

test("a draft that is not a message is refused, and its session closes as if there had been none", async () => {
  const kernel = await testKernel();
  const session = await kernel.session();
  for (const start of [undefined, {}, { role: "nobody", text: "" }, { role: "user", parts: 2 }])
    expect(() => session.draft(start as never)).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID" }),
    );
  const draft = session.draft({ role: "assistant", text: "a" });
  expect(() => draft.update({ role: "user", parts: [null] } as never)).toThrow(
    expect.objectContaining({ code: "ARGUMENT_INVALID" }),
  );
  expect(() => draft.write(5 as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  expect((await draft.finish()).message.parts).toEqual([{ type: "text", text: "a" }]);
  await session.close();
  expect(kernel.counts().draft).toEqual({ opened: 1, closed: 1 });
});
