import { describe, expect, test } from "vitest";
import { Census, Lifetime } from "../../src/model/lifetime.ts";

describe("a lifetime", () => {
  test("a lifetime closes what it owns once, in reverse order", async () => {
    const order: number[] = [];
    const lifetime = new Lifetime("thing", new Census());
    for (const n of [1, 2, 3]) lifetime.own({ close: () => void order.push(n) });
    await Promise.all([lifetime.close(), lifetime.close()]);
    await lifetime.close();
    expect(order).toEqual([3, 2, 1]);
  });

  test("a lifetime closes all others if one fails, and reports all failures", async () => {
    const closed: string[] = [];
    const lifetime = new Lifetime("thing", new Census());
    lifetime.own({ close: () => void closed.push("first") });
    lifetime.own({ close: () => Promise.reject(new Error("bad one")) });
    lifetime.own({
      close: () => {
        throw new Error("worse one");
      },
    });
    await expect(lifetime.close()).rejects.toMatchObject({
      code: "CLOSE_FAILED",
      message: expect.stringMatching(/worse one; bad one/),
    });
    expect(closed).toEqual(["first"]);
  });

  test("a lifetime that must hurry closes all others if one hangs", async () => {
    const closed: string[] = [];
    const census = new Census();
    const lifetime = new Lifetime("thing", census);
    lifetime.own({ close: () => void closed.push("first") });
    lifetime.own({ close: () => Promise.reject(new Error("fails in silence")) });
    lifetime.own({ close: () => new Promise<void>(() => undefined) });
    const closing = lifetime.close();
    await new Promise(setImmediate);
    expect(closed).toEqual([]);
    lifetime.hurry();
    await closing.catch(() => undefined);
    expect(closed).toEqual(["first"]);
    expect(census.counts()).toEqual({ thing: { opened: 1, closed: 1 } });
  });

  test("a lifetime forgets what closed by itself, refuses additions after closing, and counts", async () => {
    const census = new Census();
    const lifetime = new Lifetime("thing", census);
    const own = lifetime.own({ close: () => Promise.reject(new Error("must not be called")) });
    lifetime.release(own);
    expect(lifetime.owned()).toEqual([]);
    await lifetime.close();
    expect(() => lifetime.own({ close: () => undefined })).toThrow(
      expect.objectContaining({ code: "CLOSED" }),
    );
    expect(census.counts()).toEqual({ thing: { opened: 1, closed: 1 } });
  });
});
