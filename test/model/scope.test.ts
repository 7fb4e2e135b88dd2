import { describe, expect, test } from "vitest";
import { Census, Scope } from "../../src/model/scope.ts";

describe("a scope", () => {
  test("closes what it owns once, last opened first", async () => {
    const order: number[] = [];
    const scope = new Scope("thing", new Census());
    for (const n of [1, 2, 3]) scope.own({ close: () => void order.push(n) });
    await Promise.all([scope.close(), scope.close()]);
    await scope.close();
    expect(order).toEqual([3, 2, 1]);
  });

  test("closes the rest when one fails, and reports all failures", async () => {
    const closed: string[] = [];
    const scope = new Scope("thing", new Census());
    scope.own({ close: () => void closed.push("first") });
    scope.own({ close: () => Promise.reject(new Error("bad one")) });
    scope.own({
      close: () => {
        throw new Error("worse one");
      },
    });
    await expect(scope.close()).rejects.toMatchObject({
      code: "CLOSE_FAILED",
      message: expect.stringMatching(/worse one; bad one/),
    });
    expect(closed).toEqual(["first"]);
  });

  test("closes the rest when one hangs and it is told to hurry", async () => {
    const closed: string[] = [];
    const census = new Census();
    const scope = new Scope("thing", census);
    scope.own({ close: () => void closed.push("first") });
    scope.own({ close: () => Promise.reject(new Error("fails in silence")) });
    scope.own({ close: () => new Promise<void>(() => undefined) });
    const closing = scope.close();
    await new Promise(setImmediate);
    expect(closed).toEqual([]);
    scope.hurry();
    await closing.catch(() => undefined);
    expect(closed).toEqual(["first"]);
    expect(census.counts()).toEqual({ thing: { opened: 1, closed: 1 } });
  });

  test("forgets what closed by itself, refuses new things once closed, and counts", async () => {
    const census = new Census();
    const scope = new Scope("thing", census);
    const own = scope.own({ close: () => Promise.reject(new Error("must not be called")) });
    scope.release(own);
    expect(scope.owned()).toEqual([]);
    await scope.close();
    expect(() => scope.own({ close: () => undefined })).toThrow(expect.objectContaining({ code: "CLOSED" }));
    expect(census.counts()).toEqual({ thing: { opened: 1, closed: 1 } });
  });
});
