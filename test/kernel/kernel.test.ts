import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testFolder } from "../support/folder.ts";
import { say, testKernel, texts } from "../support/kernel.ts";

describe("a kernel", () => {
  test("a kernel uses LONGHAUL_HOME unless a path is given", async () => {
    const home = testFolder();
    const before = process.env.LONGHAUL_HOME;
    process.env.LONGHAUL_HOME = home;
    try {
      await using kernel = await openKernel();
      await kernel.session("s");
      expect(existsSync(`${home}/log.db`)).toBe(true);
    } finally {
      if (before === undefined) delete process.env.LONGHAUL_HOME;
      else process.env.LONGHAUL_HOME = before;
    }
  });

  test("a kernel in memory leaves nothing behind", async () => {
    const ours = () => readdirSync(tmpdir()).filter((name) => name.startsWith("longhaul-memory-")).length;
    const kernel = await openKernel({ path: ":memory:" });
    const session = await kernel.session();
    await session.append({ role: "user", parts: [{ type: "data", data: Buffer.from("%PDF-1.7 x") }] });
    const during = ours();
    await kernel.close();
    expect(ours()).toBeLessThan(during);
  });

  test("a kernel finds an intake by name, whichever session it belongs to, and creates none", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("fed");
    await (await session.intake("tickets:1")).save({ checkpoint: { page: 2 } });
    const found = await kernel.intake("tickets:1");
    expect([found?.session, found?.checkpoint]).toEqual(["fed", { page: 2 }]);
    expect(await kernel.intake("tickets:2")).toBeUndefined();
    await kernel.deleteSession("fed");
    expect(await kernel.intake("tickets:1")).toBeUndefined();
  });

  test("a kernel closes everything that was opened from it, once, and refuses calls afterwards", async () => {
    const kernel = await openKernel({ path: ":memory:" });
    const session = await kernel.session();
    await session.child();
    session.draft({ role: "assistant", text: "half" });
    const tail = session.tail().next();
    const appending = say(session, "last words");
    await Promise.all([kernel.close(), kernel.close()]);
    expect(await tail).toMatchObject({ done: true });
    await expect(appending).resolves.toHaveLength(1);
    for (const count of Object.values(kernel.counts())) expect(count.closed).toBe(count.opened);
    await expect(session.append({ role: "user", text: "x" })).rejects.toMatchObject({ code: "CLOSED" });
    await expect(session.page()).rejects.toMatchObject({ code: "CLOSED" });
    await expect(kernel.session("y")).rejects.toMatchObject({ code: "CLOSED" });
    await kernel.close();
  });

  test("a kernel refuses wrong options by name", async () => {
    const bad = [
      { path: "" },
      { path: 5 as never },
      { durability: "maybe" as never },
      { path: ":memory:", limits: { spillBytes: -1 } },
      { path: ":memory:", busyTimeoutMs: 0.5 },
    ];
    for (const options of bad)
      await expect(openKernel(options)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("a kernel works on a store that the caller has opened", async () => {
    const kernel = await testKernel({ store: await openSqliteStore({ path: ":memory:" }) });
    const session = await kernel.session();
    await say(session, "1");
    expect(texts(await session.page())).toEqual(["1"]);
  });

  test("a kernel flushes before a model request: appends, data and drafts alike", async () => {
    const path = testFolder();
    const kernel = await testKernel({ path });
    const session = await kernel.session("s");
    void session.append({ role: "user", text: "1" });
    void session.append({ role: "user", parts: [{ type: "data", data: Buffer.from("%PDF-1.7 x") }] });
    session.draft({ role: "assistant", text: "half" });
    await session.flush();
    const other = await testKernel({ path });
    const seen = await other.session("s");
    expect(texts(await seen.page())).toEqual(["1", "[blob]"]);
    expect(await seen.drafts()).toHaveLength(1);
  });
});
