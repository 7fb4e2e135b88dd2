import { describe, expect, test } from "vitest";
import { parseRetryAfterMs } from "../../../src/wire/provider/retry-after.ts";

const now = Date.parse("2026-03-01T12:00:00Z");

describe("how long a provider asks to wait", () => {
  test.each([
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "Sun, 01 Mar 2026 12:00:30 GMT" }, 30_000],
    [{ "retry-after": "Sun, 01 Mar 2026 11:00:00 GMT" }, 0],
  ])("the wait that a provider asks for is read from %j", (headers, expected) => {
    expect(parseRetryAfterMs({ headers, now })).toBe(expected);
  });

  test("the wait that a provider asks for is read from the body of Google's errors", () => {
    const body = `{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2.5s"}]}}`;
    expect(parseRetryAfterMs({ body, now })).toBe(2_500);
  });

  test.each(["", "soon", "-3", "NaN", "7 apples", "2026"].map((value) => ({ "retry-after": value })))(
    "a malformed wait of %j is ignored or read as seconds, and never negative",
    (headers) => {
      const waitMs = parseRetryAfterMs({ headers, now });
      expect(waitMs === undefined || waitMs === 2_026_000).toBe(true);
    },
  );

  test("the wait is unknown if the provider does not name it", () => {
    expect(parseRetryAfterMs({ now })).toBeUndefined();
  });
});
