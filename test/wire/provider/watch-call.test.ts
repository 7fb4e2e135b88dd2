import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { defaultTimeouts, resolveTimeouts } from "../../../src/wire/provider/timeouts.ts";
import { watchCall } from "../../../src/wire/provider/watch-call.ts";

const provider = "test/model";
const never = () => new Promise<never>(() => {});

describe("a watched call", () => {
  test("a watched call ends at once at its signal, even if the work ignores the signal", async () => {
    const controller = new AbortController();
    const call = watchCall({ provider, timeouts: defaultTimeouts, signal: controller.signal }, never);
    controller.abort(new Error("enough"));
    await expect(call).rejects.toMatchObject({ code: "ABORTED", cause: controller.signal.reason });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("a watched call does not begin if its signal has already fired", async () => {
    let hasBegun = false;
    const call = watchCall({ provider, timeouts: defaultTimeouts, signal: AbortSignal.abort() }, async () => {
      hasBegun = true;
    });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    expect(hasBegun).toBe(false);
  });

  test.each([
    ["first-byte", { firstByteMs: 5 }, false],
    ["idle", { idleMs: 5 }, true],
    ["total", { totalMs: 5 }, true],
  ] as const)(
    "a watched call ends at its %s time limit, and names the option to raise",
    async (phase, timeouts, hasProgress) => {
      const limits = { provider, timeouts: resolveTimeouts(timeouts), signal: undefined };
      const call = watchCall(limits, (watch) => {
        if (hasProgress) watch.progress();
        return never();
      });
      await expect(call).rejects.toMatchObject({
        code: "PROVIDER_TIMEOUT",
        message: expect.stringContaining(`timeouts.${Object.keys(timeouts)[0]}`),
        details: { provider, phase, timeoutMs: 5, isRetryable: true },
      });
    },
  );

  test("a watched call stops its work, and leaves no timer or listener behind when it succeeds", async () => {
    const controller = new AbortController();
    const limits = { provider, timeouts: defaultTimeouts, signal: controller.signal };
    const inner = await watchCall(limits, async (watch) => {
      watch.progress();
      watch.progress();
      return watch.signal;
    });
    expect(inner.aborted).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

describe("timeouts", () => {
  test("timeouts come from the call, else from the provider, else from the defaults", () => {
    expect(resolveTimeouts({ idleMs: 1 }, { idleMs: 2, totalMs: 3 })).toEqual({
      firstByteMs: defaultTimeouts.firstByteMs,
      idleMs: 1,
      totalMs: 3,
    });
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 31])("a timeout of %d is refused by name", (totalMs) => {
    expect(() => resolveTimeouts({ totalMs })).toThrow(/timeouts\.totalMs/);
  });
});
