import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { diskKernel, testKernel } from "../support/kernel.ts";

describe("facts of a session", () => {
  test("each session keeps its own facts by name, and they survive a restart", async () => {
    const { kernel, path } = await diskKernel();
    const [one, other] = [await kernel.session("a b"), await kernel.session("a")];
    await one.facts.set("c", { color: "green" });
    await other.facts.set("b c", 7);
    await kernel.close();
    await using again = await openKernel({ path });
    expect(await (await again.session("a b")).facts.get("c")).toEqual({ color: "green" });
    expect(await (await again.session("a")).facts.get("b c")).toBe(7);
    expect(await (await again.session("a")).facts.get("c")).toBeUndefined();
  });

  test("facts of a session can be changed by several writers at once, and the last one wins", async () => {
    const kernel = await testKernel();
    const [one, other] = [await kernel.session("s"), await kernel.session("s")];
    await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? one : other).facts.set("n", at)));
    await one.facts.set("n", "last");
    expect(await other.facts.get("n")).toBe("last");
    await one.facts.set("n", null);
    expect(await other.facts.get("n")).toBeNull();
  });

  test("a fact that several writers count up at once loses no count", async () => {
    const kernel = await testKernel();
    const [one, other] = [await kernel.session("s"), await kernel.session("s")];
    const count = (session: typeof one) => session.facts.change("n", (value) => Number(value ?? 0) + 1);
    await Promise.all(Array.from({ length: 20 }, (_, at) => count(at % 2 ? one : other)));
    expect(await one.facts.get("n")).toBe(20);
  });

  test("facts of a session add nothing to the log", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    await session.facts.set("seen", true);
    expect((await session.head()).seq).toBe(0);
  });

  test("a fact claimed by a session is found without the session, and no other session can claim it", async () => {
    const kernel = await testKernel();
    const [one, other] = [await kernel.session("one"), await kernel.session("other")];
    expect(await kernel.findFact("reply 7")).toBeUndefined();
    expect(await one.facts.claim("reply 7", { at: 3 })).toBe(true);
    expect(await other.facts.claim("reply 7", { at: 9 })).toBe(false);
    expect(await one.facts.claim("reply 7", { at: 4 })).toBe(true);
    expect(await kernel.findFact("reply 7")).toEqual({ session: "one", value: { at: 4 } });
    expect(await one.facts.get("reply 7")).toBeUndefined();
  });

  test("facts of a session are deleted with their session", async () => {
    const kernel = await testKernel();
    const session = await kernel.session("s");
    await session.facts.set("n", 1);
    await session.facts.claim("key", 1);
    await session.close();
    await kernel.deleteSession("s");
    expect(await kernel.findFact("key")).toBeUndefined();
    expect(await (await kernel.session("s")).facts.get("n")).toBeUndefined();
  });

  test("facts without a name, that are not JSON or too large are refused", async () => {
    const kernel = await testKernel({
      path: ":memory:",
      limits: { maxEntryBytes: 70_000, spillBytes: 4_096 },
    });
    const { facts } = await kernel.session();
    await expect(facts.set("", 1)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(facts.set("n", undefined as never)).rejects.toThrow("JSON");
    await expect(facts.set("n", 1n as never)).rejects.toThrow("JSON");
    await expect(facts.set("n", "x".repeat(80_000))).rejects.toThrow("at most 70000 characters");
    expect(await facts.get("n")).toBeUndefined();
  });
});
