import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { runWithTimeLimit, waitAtMost } from "../../../src/model/base/time-limit.ts";

const never = new Promise<never>(() => undefined);
const LONG_MS = 2 ** 40;
const lateError = () => new Error("too late");

describe("a limited wait", () => {
  test("a limited wait returns the result of a promise in time", async () => {
    expect(await waitAtMost(LONG_MS, Promise.resolve("done"))).toBe("done");
    await expect(waitAtMost(LONG_MS, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  });

  test("a limited wait ends after its time, or when its signal aborts", async () => {
    expect(await waitAtMost(1, never)).toBeUndefined();
    const controller = new AbortController();
    const waiting = waitAtMost(LONG_MS, never, controller.signal);
    controller.abort();
    expect(await waiting).toBeUndefined();
    expect(await waitAtMost(LONG_MS, never, AbortSignal.abort())).toBeUndefined();
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

describe("work within a time limit", () => {
  test("limited work returns its result, and leaves no listener on the caller's signal", async () => {
    const { signal } = new AbortController();
    expect(await runWithTimeLimit({ limitMs: LONG_MS, signal, lateError }, async () => "done")).toBe("done");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("limited work is aborted and rejects when its time is over", async () => {
    let seen: AbortSignal | undefined;
    const working = runWithTimeLimit({ limitMs: 1, lateError }, (signal) => {
      seen = signal;
      return never;
    });
    await expect(working).rejects.toThrow("too late");
    expect(seen?.reason).toEqual(lateError());
  });

  test("limited work rejects with the reason of the caller's signal, even if the work ignores its own signal", async () => {
    const controller = new AbortController();
    const working = runWithTimeLimit({ limitMs: LONG_MS, signal: controller.signal, lateError }, () => never);
    controller.abort(new Error("not wanted"));
    await expect(working).rejects.toThrow("not wanted");
    const before = runWithTimeLimit({ limitMs: LONG_MS, signal: controller.signal, lateError }, () => never);
    await expect(before).rejects.toThrow("not wanted");
  });

  test("limited work passes its own error on, and a later error is not left unhandled", async () => {
    const broken = async () => {
      throw new Error("broken");
    };
    await expect(runWithTimeLimit({ limitMs: LONG_MS, lateError }, broken)).rejects.toThrow("broken");
    const slow = Promise.withResolvers<never>();
    await expect(runWithTimeLimit({ limitMs: 1, lateError }, () => slow.promise)).rejects.toThrow("too late");
    slow.reject(new Error("after the end"));
    await new Promise((resolve) => setImmediate(resolve));
  });
});
