import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeRetryDelay, isRetryable, retryLimits } from "../../../src/wire/provider/retry-after.ts";

const first = { attempt: 1, isRetryable: true, waitedMs: 0, random: 0.5 };

describe("the wait before the next try", () => {
  test("the wait before the next try doubles with each try", () => {
    const limits = { ...retryLimits, tries: 10 };
    const delays = [1, 2, 3, 4].map((attempt) => computeRetryDelay({ ...first, attempt, random: 1 }, limits));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  test("the wait before the next try is random within its upper half", () => {
    expect(computeRetryDelay({ ...first, random: 0 })).toBe(500);
    expect(computeRetryDelay({ ...first, random: 0.999 })).toBe(1_000);
  });

  test("the wait before the next try is at least the time that the provider asks for", () => {
    expect(computeRetryDelay({ ...first, retryAfterMs: 7_000, random: 0 })).toBe(7_000);
    expect(computeRetryDelay({ ...first, retryAfterMs: 7_000, random: 1 })).toBe(7_250);
  });

  test("no further try is made if the provider asks for more than the remaining wait", () => {
    expect(computeRetryDelay({ ...first, retryAfterMs: 60_001 })).toBeUndefined();
    expect(
      computeRetryDelay({ ...first, attempt: 2, waitedMs: 50_000, retryAfterMs: 11_000 }),
    ).toBeUndefined();
  });

  test("no further try is made after a permanent failure, the last try, or the whole waiting time", () => {
    expect(computeRetryDelay({ ...first, isRetryable: false })).toBeUndefined();
    expect(computeRetryDelay({ ...first, attempt: 3 })).toBeUndefined();
    expect(computeRetryDelay({ ...first, waitedMs: 60_000 })).toBeUndefined();
  });

  test("the total wait stays within the limit, whatever providers ask for", () => {
    const asked = fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined });
    const chance = fc.double({ min: 0, max: 1, noNaN: true });
    const limits = fc.record({
      tries: fc.integer({ min: 1, max: 50 }),
      mostWaitMs: fc.integer({ min: 0, max: 100_000 }),
      firstDelayMs: fc.integer({ min: 0, max: 5_000 }),
      mostDelayMs: fc.integer({ min: 0, max: 50_000 }),
    });
    fc.assert(
      fc.property(
        limits,
        fc.array(fc.tuple(asked, chance), { minLength: 60, maxLength: 60 }),
        (limit, turns) => {
          let waitedMs = 0;
          let attempt = 1;
          for (const [retryAfterMs, random] of turns) {
            const failed = { attempt, isRetryable: true, waitedMs, random };
            const delayMs = computeRetryDelay(
              retryAfterMs === undefined ? failed : { ...failed, retryAfterMs },
              limit,
            );
            if (delayMs === undefined) break;
            expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
            waitedMs += delayMs;
            attempt++;
          }
          expect(waitedMs).toBeLessThanOrEqual(limit.mostWaitMs);
          expect(attempt).toBeLessThanOrEqual(limit.tries);
        },
      ),
    );
  });
});

describe("a failed request", () => {
  test.each([408, 409, 429, 500, 502, 503, 504, 529])(
    "a failed request with status %i is retried",
    (status) => {
      expect(isRetryable({ status })).toBe(true);
    },
  );

  test.each([200, 400, 401, 402, 403, 404, 413, 422])(
    "a failed request with status %i is not retried",
    (status) => {
      expect(isRetryable({ status })).toBe(false);
    },
  );

  test("a failed request of an empty account is not retried, although it resembles a rate limit", () => {
    expect(isRetryable({ status: 429, body: `{"error":{"code":"insufficient_quota"}}` })).toBe(false);
  });

  test("a failed request is retried if the server says so", () => {
    expect(isRetryable({ status: 400, headers: { "x-should-retry": "true" } })).toBe(true);
    expect(isRetryable({ status: 500, headers: { "x-should-retry": "false" } })).toBe(false);
  });
});
