import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BoundedCache } from "../../src/model/bounded-cache.ts";

describe("a bounded cache", () => {
  test("lets the least recently used go first", () => {
    const cache = new BoundedCache<string, number>({ maxWeight: 2 });
    cache.set("a", 1);
    cache.set("b", 2);
    cache.get("a");
    cache.set("c", 3);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
  });

  test("lets what is too old go", () => {
    let now = 0;
    const cache = new BoundedCache<string, number>({ maxWeight: 9, maxAgeMs: 100 }, () => now);
    cache.set("a", 1);
    now = 100;
    expect(cache.get("a")).toBe(1);
    now = 101;
    expect(cache.get("a")).toBeUndefined();
    expect(cache.weight).toBe(0);
  });

  test("drops all that is too old at once, and says when the next is due", () => {
    const step = fc.record({ key: fc.nat(9), waitMs: fc.nat(60), uses: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        let now = 0;
        const cache = new BoundedCache<number, number>({ maxWeight: 1_000, maxAgeMs: 100 }, () => now);
        const since = new Map<number, number>();
        for (const { key, waitMs, uses } of steps) {
          now += waitMs;
          cache.set(key, now, 10);
          since.set(key, now);
          cache.get(uses);
          const dueMs = cache.dropAged();
          const young = [...since].filter(([, at]) => now - at <= 100);
          expect(new Set(cache.keys())).toEqual(new Set(young.map(([own]) => own)));
          expect(cache.weight).toBe(10 * young.length);
          expect(dueMs).toBe(Math.min(...young.map(([, at]) => at + 101 - now)));
        }
        now += 101;
        expect([cache.dropAged(), cache.size, cache.weight]).toEqual([undefined, 0, 0]);
      }),
    );
  });

  test("never holds more than its bound, and always what was set last if it fits", () => {
    const set = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(fc.array(set, { maxLength: 200 }), (sets) => {
        const cache = new BoundedCache<number, number>({ maxWeight: 30 });
        for (const [key, weight] of sets) {
          cache.set(key, weight, weight);
          expect(cache.weight).toBeLessThanOrEqual(30);
          expect(cache.get(key)).toBe(weight <= 30 ? weight : undefined);
        }
      }),
    );
  });
});
