import { expect, test } from "vitest";
import { diskKernel } from "../support/kernel.ts";

test("a kernel returns the head of a session, and notifies listeners of commits", async () => {
  const { kernel } = await diskKernel();
  await expect(kernel.head("none")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  await using session = await kernel.session("s");
  expect(await kernel.head("s")).toEqual({ seq: 0, at: 0 });
  let calls = 0;
  const stop = kernel.onCommit(() => {
    calls++;
    throw new Error("A listener that fails harms nobody.");
  });
  const { at } = await session.append({ role: "user", text: "Hello." });
  expect(await kernel.head("s")).toEqual({ seq: 1, at });
  expect(calls).toBeGreaterThan(0);
  stop();
  const before = calls;
  await session.append({ role: "user", text: "Again." });
  expect(calls).toBe(before);
  expect(() => kernel.onCommit("no" as never)).toThrow("listener");
});
