import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { diskKernel, say, testKernel, textOf, texts } from "../support/kernel.ts";

describe("a session", () => {
  test("a session returns each message as an entry with id, seq and time", async () => {
    const kernel = await testKernel({ path: ":memory:", clock: { now: () => 1_234 } });
    const session = await kernel.session("talk");
    const entry = await session.append({ role: "user", text: "hello", meta: { from: "me" } });
    expect(entry).toEqual({
      kind: "message",
      id: "talk#1",
      session: "talk",
      seq: 1,
      at: 1_234,
      message: { role: "user", parts: [{ type: "text", text: "hello" }], meta: { from: "me" } },
    });
    expect(await session.entry("talk#1")).toEqual(entry);
    expect(await session.entry(1)).toEqual(entry);
    expect(await session.entryAt(1_234)).toEqual(entry);
    expect(await session.entryAt(new Date(1_233))).toBeUndefined();
    expect(await session.entry(2)).toBeUndefined();
  });

  test("a session keeps parts of every kind verbatim", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const parts = [
      { type: "text", text: "größe 你好 \u{1f600} \ud800 \u0000" },
      {
        type: "reasoning",
        text: "thinking",
        opaque: { signature: "c2ln", nested: [null, 1.5, "__proto__"] },
      },
      { type: "tool-call", callId: "c1", name: "read_file", input: { path: "a.ts", __proto__x: 1 } },
      {
        type: "tool-result",
        callId: "c1",
        name: "read_file",
        isError: true,
        output: [{ type: "text", text: "no such file" }],
      },
      { type: "raw", format: "claude-code", value: { unknown: { deep: [true] } } },
    ] as const;
    const { seq } = await session.append({ role: "assistant", parts, model: "some-model" });
    expect(await session.entry(seq)).toMatchObject({
      message: { role: "assistant", parts, model: "some-model" },
    });
  });

  test("a session keeps the order of calls, even if some have data to store first", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const png = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      Buffer.alloc(100_000),
    ]);
    await Promise.all([
      session.append({ role: "user", text: "1" }),
      session.append({ role: "user", parts: [{ type: "data", data: png }] }),
      session.append({ role: "user", text: "3" }),
      session.appendAll([
        { role: "user", text: "4" },
        { role: "user", parts: [{ type: "data", data: png }] },
      ]),
      session.append({ role: "user", text: "6" }),
      session.note("7"),
      session.append({ role: "user", text: "8" }),
    ]);
    await Promise.all([session.note("9"), session.append({ role: "user", text: "10" })]);
    expect(texts(await session.page())).toEqual([
      "1",
      "[blob]",
      "3",
      "4",
      "[blob]",
      "6",
      "7",
      "8",
      "9",
      "10",
    ]);
  });

  test("a session refuses an append with another expected head, and changes nothing", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await say(session, "a");
    await expect(session.append({ role: "user", text: "b" }, { expectedHead: 0 })).rejects.toMatchObject({
      code: "POSITION_CONFLICT",
      details: { expected: 0, actual: 1 },
    });
    await session.append({ role: "user", text: "b" }, { expectedHead: 1 });
    expect(texts(await session.page())).toEqual(["a", "b"]);
  });

  test("a session appends a batch whole or not at all", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    const bad = { role: "user", parts: [{ type: "text" }] } as never;
    await expect(session.appendAll([{ role: "user", text: "a" }, bad])).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    await expect(session.appendAll(Array(10_001).fill({ role: "user", text: "a" }))).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    expect(await session.appendAll([])).toEqual([]);
    expect((await session.head()).seq).toBe(0);
  });

  test("a session refuses values that JSON cannot hold and messages beyond the entry limit", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await expect(
      session.append({ role: "user", text: "x", meta: { big: 1n as never } }),
    ).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(
      session.append({ role: "user", text: "x", meta: { big: "y".repeat(5_000_000) } }),
    ).rejects.toMatchObject({ code: "ENTRY_TOO_LARGE" });
    const call = { type: "tool-call", callId: "1", name: "x", input: { big: 1n } } as never;
    await expect(session.append({ role: "assistant", parts: [call] })).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
    });
    expect((await session.head()).seq).toBe(0);
  });

  test("a session rewinds without deleting, and can return", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await say(session, "1", "2", "3", "4");
    await session.rewind(2);
    await say(session, "3'");
    expect(texts(await session.page())).toEqual(["1", "2", "3'"]);
    expect(textOf(await session.entry(4))).toBe("4");
    const lines = await session.lines();
    expect(lines.map(({ reason, isActive }) => [reason, isActive])).toEqual([
      ["rewind", true],
      ["start", false],
    ]);
    await session.choose(0);
    expect(texts(await session.page())).toEqual(["1", "2", "3", "4"]);
    await session.choose(lines[0]?.seq ?? -1);
    expect(texts(await session.page())).toEqual(["1", "2", "3'"]);
    await expect(session.choose(3)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    await expect(session.rewind(99)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    await expect(session.rewind(4)).rejects.toMatchObject({ code: "NOT_ON_LINE" });
  });

  test("a session edits a message with or without the messages after it", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await say(session, "1", "2", "3");
    await session.replace("s#2", { role: "user", text: "two" });
    expect(texts(await session.page())).toEqual(["1", "two", "3"]);
    await session.edit(1, { role: "user", text: "one" });
    await say(session, "next");
    expect(texts(await session.page())).toEqual(["one", "next"]);
    await session.remove((await session.head()).seq);
    expect(texts(await session.page())).toEqual(["one"]);
  });

  test("a session forks without copying, and both sessions continue separately", async () => {
    const { kernel } = await diskKernel();
    const session = await kernel.session("trunk");
    await say(session, "1", "2", "3");
    const before = (await kernel.size()).logBytes;
    const fork = await session.fork({ id: "branch", at: 2 });
    expect((await kernel.size()).logBytes - before).toBeLessThan(20_000);
    await say(fork, "2b");
    await say(session, "4");
    expect(texts(await fork.page())).toEqual(["1", "2", "2b"]);
    expect(texts(await session.page())).toEqual(["1", "2", "3", "4"]);
    expect((await fork.page({ limit: 2 })).before).toBeDefined();
    const again = await fork.fork();
    expect(texts(await again.page())).toEqual(["1", "2", "2b"]);
    expect((await fork.parent())?.id).toBe("trunk");
    await expect(kernel.deleteSession("trunk")).rejects.toMatchObject({ code: "SESSION_HAS_CHILDREN" });
    expect((await kernel.deleteSession("trunk", { recursive: true })).sessions).toBe(3);
  });

  test("a fork can be rewound into its shared messages, and finds shared entries by id", async () => {
    const kernel = await testKernel();
    const trunk = await kernel.session("trunk");
    await say(trunk, "1", "2", "3");
    const fork = await trunk.fork({ id: "fork" });
    await say(fork, "4");
    expect(textOf(await fork.entry("trunk#2"))).toBe("2");
    expect(texts(await fork.page({ around: "trunk#3", limit: 3 }))).toEqual(["2", "3", "4"]);
    await fork.rewind("trunk#1");
    await say(fork, "2'");
    expect(texts(await fork.page())).toEqual(["1", "2'"]);
    expect(texts(await trunk.page())).toEqual(["1", "2", "3"]);
    await fork.choose((await fork.lines())[1]?.seq ?? -1);
    expect(texts(await fork.page())).toEqual(["1", "2", "3", "4"]);
    await expect(trunk.fork({ id: "bad\u0000id" })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(trunk.fork({ id: "fork" })).rejects.toMatchObject({ code: "POSITION_CONFLICT" });
    expect(await kernel.sessions()).toHaveLength(2);
    await expect(fork.redact("trunk#1")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(trunk.entry("fork#1")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("a session closes with its children", async () => {
    const kernel = await testKernel();
    const parent = await kernel.session("parent");
    const child = await parent.child({ id: "child", title: "sub-task" });
    await say(child, "working");
    expect((await parent.children()).map(({ id, title, relation }) => [id, title, relation])).toEqual([
      ["child", "sub-task", "child"],
    ]);
    expect((await child.parent())?.id).toBe("parent");
    await parent.close();
    await expect(child.append({ role: "user", text: "late" })).rejects.toMatchObject({ code: "CLOSED" });
    expect(texts(await (await kernel.session("child")).page())).toEqual(["working"]);
  });

  test("a deleted session is refused, and its id can be used again", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await say(session, "secret");
    expect(await kernel.deleteSession("s")).toMatchObject({ sessions: 1, entries: 1, scrubbed: true });
    await expect(say(session, "more")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(session.page()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    const anew = await kernel.session("s");
    expect(texts(await anew.page())).toEqual([]);
  });

  test("a session has a title and metadata, and is listed newest first", async () => {
    const kernel = await testKernel();
    await kernel.session("a", { title: "first", meta: { project: "x" } });
    const second = await kernel.session("b");
    await second.update({ title: "second" });
    expect((await kernel.sessions()).map(({ id, title }) => [id, title])).toEqual([
      ["b", "second"],
      ["a", "first"],
    ]);
    await expect(kernel.session("bad\u0000id")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(kernel.session("")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("a session exists again after the kernel was closed and reopened", async () => {
    const path = testFolder();
    const first = await openKernel({ path });
    const session = await first.session("s");
    await say(session, "1", "2", "3");
    await session.rewind(2);
    await first.close();
    const second = await testKernel({ path });
    expect(texts(await (await second.session("s")).page())).toEqual(["1", "2"]);
  });
});
