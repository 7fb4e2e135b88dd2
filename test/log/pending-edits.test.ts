import { describe, expect, test } from "vitest";
import { say, testKernel, texts } from "../support/kernel.ts";

describe("a pending edit", () => {
  test("a pending edit changes nothing until it is confirmed, and then the line continues from it", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2", "3");
    const edit = await session.edits.propose(2, { role: "user", text: "two" });
    expect(session.edits.list()).toEqual([edit]);
    expect(texts(await session.page())).toEqual(["1", "2", "3"]);
    await session.edits.confirm(edit.id);
    expect(texts(await session.page())).toEqual(["1", "two"]);
    await expect(session.edits.confirm(edit.id)).rejects.toMatchObject({ code: "EDIT_NOT_FOUND" });
  });

  test("a pending edit expires, and releases its content", async () => {
    const kernel = await testKernel({ path: ":memory:", limits: { pendingEditMs: 30 } });
    const session = await kernel.session();
    await say(session, "1");
    const edit = await session.edits.propose(1, { role: "user", text: "one" });
    await expect.poll(() => session.edits.list()).toEqual([]);
    await expect(session.edits.confirm(edit.id)).rejects.toMatchObject({ code: "EDIT_NOT_FOUND" });
    expect(texts(await session.page())).toEqual(["1"]);
  });

  test("a pending edit is refused if too many or too large ones are waiting", async () => {
    const kernel = await testKernel({
      path: ":memory:",
      limits: { maxPendingEdits: 2, maxPendingEditBytes: 1_000 },
    });
    const session = await kernel.session();
    await say(session, "1");
    const limit = expect.objectContaining({ code: "EDIT_LIMIT" });
    const first = await session.edits.propose(1, { role: "user", text: "a" });
    await session.edits.propose(1, { role: "user", text: "b" });
    await expect(session.edits.propose(1, { role: "user", text: "c" })).rejects.toEqual(limit);
    expect(session.edits.cancel(first.id)).toBe(true);
    expect(session.edits.cancel(first.id)).toBe(false);
    const data = { type: "data", data: new Uint8Array(1_000) } as const;
    await expect(session.edits.propose(1, { role: "user", parts: [data] })).rejects.toEqual(limit);
    const nested = { type: "tool-result", callId: "c", output: [data] } as const;
    await expect(session.edits.propose(1, { role: "tool", parts: [nested] })).rejects.toEqual(limit);
    await session.edits.propose(1, { role: "user", text: "c" });
  });

  test("a pending edit is refused with data from a stream, because its size is unknown", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1");
    async function* stream() {
      for (let piece = 0; piece < 10; piece++) yield new Uint8Array(1_000_000);
    }
    const proposed = session.edits.propose(1, { role: "user", parts: [{ type: "data", data: stream() }] });
    await expect(proposed).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    expect(session.edits.list()).toEqual([]);
  });

  test("a pending edit of an entry beyond the head is refused at once, and a later message is stored once", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2");
    const proposed = session.edits.propose(999, { role: "user", text: "nine hundred" });
    await expect(proposed).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    expect((await session.head()).seq).toBe(2);
    await say(session, "3", "4");
    expect(texts(await session.page())).toEqual(["1", "2", "3", "4"]);
    expect(await session.lines()).toHaveLength(1);
  });

  test("a pending edit of a malformed entry is refused at once", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    for (const seq of [0, -1, 1.5, Number.NaN, undefined, "1"])
      await expect(session.edits.propose(seq as number, { role: "user", text: "one" })).rejects.toMatchObject(
        { code: "ARGUMENT_INVALID" },
      );
    expect(session.edits.list()).toEqual([]);
  });

  test("a failed pending edit keeps waiting, and two simultaneous confirmations carry it out once", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1", "2");
    const { id } = await session.edits.propose(1, { role: "user", text: "one" });
    await session.remove(1);
    await expect(session.edits.confirm(id)).rejects.toMatchObject({ code: "NOT_ON_LINE" });
    await session.choose(0);
    const both = await Promise.allSettled([session.edits.confirm(id), session.edits.confirm(id)]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(texts(await session.page())).toEqual(["one"]);
    expect(session.edits.list()).toEqual([]);
  });

  test("a pending edit is dropped with its session", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "1");
    await session.edits.propose(1, { role: "user", text: "a" });
    await session.close();
    expect(session.edits.list()).toEqual([]);
  });
});
