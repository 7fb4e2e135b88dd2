import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Semaphore } from "../../../../src/server/gateway/door/read-body.ts";

describe("a semaphore", () => {
  test("a semaphore lets a limited number in at once, and the others in order of arrival", async () => {
    const turnstile = new Semaphore(2);
    const inside: number[] = [];
    const places = [1, 2, 3, 4].map((number) => {
      const place = {};
      void turnstile.acquire(place).then(() => inside.push(number));
      return place;
    });
    await turn();
    expect(inside).toEqual([1, 2]);
    turnstile.release(places[1] ?? {});
    await turn();
    expect(inside).toEqual([1, 2, 3]);
    turnstile.release(places[0] ?? {});
    turnstile.release(places[2] ?? {});
    await turn();
    expect(inside).toEqual([1, 2, 3, 4]);
  });

  test("a semaphore counts a place once, however often it is acquired or released", async () => {
    const turnstile = new Semaphore(1);
    const [one, other] = [{}, {}];
    await turnstile.acquire(one);
    await turnstile.acquire(one);
    turnstile.release(one);
    turnstile.release(one);
    await turnstile.acquire(other);
    let isBack = false;
    void turnstile.acquire(one).then(() => {
      isBack = true;
    });
    await turn();
    expect(isBack).toBe(false);
    turnstile.release(other);
    await turn();
    expect(isBack).toBe(true);
  });
});
