import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { searchByTime } from "../../src/stores/sqlite/sqlite-entries.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

describe("the search by time", () => {
  sizedTest("the search by time finds the same as a walk over all times", () => {
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat(5), fc.nat(1_000_000)), {
      minLength: 1,
      maxLength: 300,
    });
    fc.assert(
      fc.property(gaps, fc.nat(), (steps, pick) => {
        let now = 1_000;
        const times = steps.map((step) => (now += step));
        const head = { seq: times.length, at: times.at(-1) ?? 0 };
        const at = (times[pick % times.length] as number) + ((pick % 3) - 1);
        expect(searchByTime(at, head, (seq) => times[seq - 1] as number)).toBe(
          times.findLastIndex((time) => time <= at) + 1,
        );
      }),
      { numRuns: proofRounds(2_000) },
    );
  });

  test("the search by time needs few steps, even if times are uneven", () => {
    const count = 1_000_000;
    const looks = (timeOf: (seq: number) => number, at: number) => {
      let looked = 0;
      searchByTime(at, { seq: count, at: timeOf(count) }, (seq) => {
        looked++;
        return timeOf(seq);
      });
      return looked;
    };
    expect(looks((seq) => 1e12 + seq * 700 + (seq % 11), 1e12 + 123_456 * 700)).toBeLessThanOrEqual(15);
    // A pause of a year in the middle, a burst of half a million entries within a second, and exponential growth.
    expect(looks((seq) => 1e12 + seq + (seq > 600_000 ? 3e10 : 0), 1e12 + 400_000)).toBeLessThanOrEqual(40);
    expect(
      looks((seq) => (seq < 500_000 ? 1e12 + seq / 500 : 1e12 + seq * 1_000), 1e12 + 777),
    ).toBeLessThanOrEqual(40);
    expect(looks((seq) => 2 ** Math.min(seq, 1_000), 2 ** 500)).toBeLessThanOrEqual(60);
  });
});
