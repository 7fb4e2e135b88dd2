import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Turnstile } from "../../../src/gateway/door/turnstile.ts";

describe("a turnstile", () => {
  test("lets so many in at once, and the others in the order in which they came", async () => {
    const turnstile = new Turnstile(2);
    const inside: number[] = [];
    const places = [1, 2, 3, 4].map((number) => {
      const place = turnstile.place();
      void place.take().then(() => inside.push(number));
      return place;
    });
    await turn();
    expect(inside).toEqual([1, 2]);
    places[1]?.give();
    await turn();
    expect(inside).toEqual([1, 2, 3]);
    places[0]?.give();
    places[2]?.give();
    await turn();
    expect(inside).toEqual([1, 2, 3, 4]);
  });

  test("counts a place once, however often it is taken or given back", async () => {
    const turnstile = new Turnstile(1);
    const [one, other] = [turnstile.place(), turnstile.place()];
    await one.take();
    await one.take();
    one.give();
    one.give();
    await other.take();
    let isBack = false;
    void one.take().then(() => {
      isBack = true;
    });
    await turn();
    expect(isBack).toBe(false);
    other.give();
    await turn();
    expect(isBack).toBe(true);
  });
});
