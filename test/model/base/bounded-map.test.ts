import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BoundedMap } from "../../../src/model/base/caches.ts";

const MAX = 6;

type Step =
  | { readonly type: "set"; readonly key: number; readonly weight: number }
  | { readonly type: "get" | "use" | "delete"; readonly key: number }
  | { readonly type: "take" | "clear" };

const key = fc.nat(9);
const steps = fc.array<Step>(
  fc.oneof(
    { weight: 60, arbitrary: fc.record({ type: fc.constant("set"), key, weight: fc.nat(4) }) },
    { weight: 60, arbitrary: fc.record({ type: fc.constantFrom("get", "use", "delete"), key }) },
    { weight: 10, arbitrary: fc.record({ type: fc.constant("take") }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("clear") }) },
  ) as fc.Arbitrary<Step>,
  { maxLength: 400 },
);

/** The same map as a list of pairs, oldest first. */
class NaiveMap {
  list: (readonly [number, number])[] = [];

  apply(step: Step): unknown {
    const found = "key" in step ? this.list.find(([own]) => own === step.key) : undefined;
    const others = () => this.list.filter((pair) => pair !== found);
    switch (step.type) {
      case "get":
        return found?.[1];
      case "use":
        if (found) this.list = [...others(), found];
        return found?.[1];
      case "delete":
        this.list = others();
        return found !== undefined;
      case "take":
        return this.list.shift();
      case "clear":
        this.list = [];
        return undefined;
      case "set":
        this.list = step.weight > MAX ? others() : [...others(), [step.key, step.weight]];
        while (this.list.reduce((sum, [, weight]) => sum + weight, 0) > MAX) this.list.shift();
        return undefined;
    }
  }
}

function apply(map: BoundedMap<number, number>, step: Step): unknown {
  switch (step.type) {
    case "get":
      return map.get(step.key);
    case "use":
      return map.use(step.key);
    case "delete":
      return map.delete(step.key);
    case "take":
      return map.takeOldest();
    case "clear":
      return map.clear();
    case "set":
      return map.set(step.key, step.weight);
  }
}

describe("a bounded map", () => {
  test("a bounded map drops the least recently used entry first if entries are read with use()", () => {
    const map = new BoundedMap<string, number>({ max: 2 });
    map.set("a", 1);
    map.set("b", 2);
    map.use("a");
    map.set("c", 3);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
  });

  test("a bounded map drops the oldest entry first if entries are read with get()", () => {
    const map = new BoundedMap<string, number>({ max: 2 });
    map.set("a", 1);
    map.set("b", 2);
    map.get("a");
    map.set("c", 3);
    expect([...map.keys()]).toEqual(["b", "c"]);
  });

  test("a bounded map behaves like a plain list with a limit", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const map = new BoundedMap<number, number>({ max: MAX, weigh: (weight) => weight });
        const naive = new NaiveMap();
        for (const step of list) {
          expect(apply(map, step)).toEqual(naive.apply(step));
          expect([...map]).toEqual(naive.list);
          expect([...map.values()]).toEqual(naive.list.map(([, weight]) => weight));
          expect(map.size).toBe(naive.list.length);
          expect(map.weight).toBe(naive.list.reduce((sum, [, weight]) => sum + weight, 0));
          for (const [own] of naive.list) expect(map.has(own)).toBe(true);
        }
      }),
    );
  });

  test("a bounded map never holds more than its limit, and always the newest entry if it fits", () => {
    const set = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(fc.array(set, { maxLength: 200 }), (sets) => {
        const map = new BoundedMap<number, number>({ max: 30, weigh: (weight) => weight });
        for (const [own, weight] of sets) {
          map.set(own, weight);
          expect(map.weight).toBeLessThanOrEqual(30);
          expect(map.get(own)).toBe(weight <= 30 ? weight : undefined);
        }
      }),
    );
  });

  test("a bounded map adopts a changed limit with the next entry", () => {
    let max = 5;
    const map = new BoundedMap<number, true>({ max: () => max });
    for (let n = 0; n < 5; n++) map.set(n, true);
    max = 2;
    map.set(5, true);
    expect([...map.keys()]).toEqual([4, 5]);
  });

  test("a bounded map distinguishes a stored undefined from a missing entry", () => {
    const map = new BoundedMap<string, number | undefined>({ max: 2 });
    map.set("a", undefined);
    map.set("b", 1);
    map.use("a");
    map.set("c", 2);
    expect([map.has("a"), map.has("b")]).toEqual([true, false]);
  });

  test("a bounded map does not return entries that are too old", () => {
    let now = 0;
    const map = new BoundedMap<string, number>({ max: 9, maxAgeMs: 100, now: () => now });
    map.set("a", 1);
    now = 100;
    expect([map.has("a"), map.get("a"), map.use("a")]).toEqual([true, 1, 1]);
    now = 101;
    expect(map.has("a")).toBe(false);
    expect(map.use("a")).toBeUndefined();
    expect(map.weight).toBe(0);
  });

  test("a bounded map drops all entries that are too old at once, and returns the time of the next expiry", () => {
    const step = fc.record({ key, waitMs: fc.nat(60), uses: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (list) => {
        let now = 0;
        const weigh = () => 10;
        const map = new BoundedMap<number, number>({ max: 1_000, weigh, maxAgeMs: 100, now: () => now });
        const since = new Map<number, number>();
        for (const { key: own, waitMs, uses } of list) {
          now += waitMs;
          map.set(own, now);
          since.set(own, now);
          map.use(uses);
          const dueMs = map.dropAged();
          const young = [...since].filter(([, at]) => now - at <= 100);
          expect(new Set(map.keys())).toEqual(new Set(young.map(([one]) => one)));
          expect(map.weight).toBe(10 * young.length);
          expect(dueMs).toBe(Math.min(...young.map(([, at]) => at + 101 - now)));
        }
        now += 101;
        expect([map.dropAged(), map.size, map.weight]).toEqual([undefined, 0, 0]);
      }),
    );
  });
});

test("a bounded map returns its first entries in order, and lists the newest", () => {
  const map = new BoundedMap<string, number>({ max: 3 }, [
    ["a", 1],
    ["b", 2],
    ["c", 3],
    ["d", 4],
  ]);
  expect(map.listNewest(2)).toEqual([
    ["c", 3],
    ["d", 4],
  ]);
  expect(map.listNewest(9)).toHaveLength(3);
});
