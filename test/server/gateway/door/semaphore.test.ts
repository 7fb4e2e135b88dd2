import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Semaphore } from "../../../../src/server/gateway/door/semaphore.ts";

describe("a turnstile", () => {
  test("lets so many in at once, and the others in the order in which they came", async () => {
    const turnstile = new Semaphore(2);
    const inside: number[] = [];
    const places = [1, 2, 3, 4].map((number) => {
      const place = turnstile.createPermit();
      void Promise.resolve(place.acquire()).then(() => inside.push(number));
      return place;
    });
    await turn();
    expect(inside).toEqual([1, 2]);
    places[1]?.release();
    await turn();
    expect(inside).toEqual([1, 2, 3]);
    places[0]?.release();
    places[2]?.release();
    await turn();
    expect(inside).toEqual([1, 2, 3, 4]);
  });

  test("counts a place once, however often it is taken or given back", async () => {
    const turnstile = new Semaphore(1);
    const [one, other] = [turnstile.createPermit(), turnstile.createPermit()];
    await one.acquire();
    await one.acquire();
    one.release();
    one.release();
    await other.acquire();
    let isBack = false;
    void Promise.resolve(one.acquire()).then(() => {
      isBack = true;
    });
    await turn();
    expect(isBack).toBe(false);
    other.release();
    await turn();
    expect(isBack).toBe(true);
  });
});
