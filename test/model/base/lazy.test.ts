import { expect, test } from "vitest";
import { Lazy } from "../../../src/model/base/lazy.ts";

test("a lazy value is loaded once, and a failed load is repeated at the next use", async () => {
  let loads = 0;
  const lazy = new Lazy(async () => {
    if (++loads === 1) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
    return loads;
  });
  expect(await lazy.peek()).toBeUndefined();
  await expect(lazy.get()).rejects.toThrow("too many open files");
  expect([lazy.hasFailed, await lazy.peek()]).toEqual([true, undefined]);
  expect([await lazy.get(), await lazy.get(), lazy.hasFailed]).toEqual([2, 2, false]);
  expect([await lazy.take(), await lazy.peek()]).toEqual([2, undefined]);
});
