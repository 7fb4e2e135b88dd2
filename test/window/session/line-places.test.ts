import fc from "fast-check";
import { expect, test } from "vitest";
import { findGaps, LinePlaces } from "../../../src/window/session/line-places.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const OPEN = Number.POSITIVE_INFINITY;

test("a session that was never rewound uses its seqs as places", () => {
  const places = new LinePlaces([{ session: "a", from: 1, to: OPEN }]);
  expect(places.findPlace({ session: "a", seq: 17 })).toBe(17);
  expect(places.findEntry(17)).toEqual({ session: "a", seq: 17 });
  expect(places.findPlace({ session: "b", seq: 17 })).toBeUndefined();
});

test("a fork continues to count where its parent ended", () => {
  const places = new LinePlaces([
    { session: "parent", from: 1, to: 40 },
    { session: "fork", from: 2, to: OPEN },
  ]);
  expect(places.findPlace({ session: "parent", seq: 2 })).toBe(2);
  expect(places.findPlace({ session: "fork", seq: 2 })).toBe(41);
  expect(places.findPlace({ session: "parent", seq: 41 })).toBeUndefined();
  expect(places.toRanges({ from: 39, to: 42 })).toEqual([
    { session: "parent", from: 39, to: 40 },
    { session: "fork", from: 2, to: 3 },
  ]);
});

test("an empty stretch keeps its place", () => {
  const places = new LinePlaces([{ session: "a", from: 1, to: OPEN }]);
  expect(places.toRanges({ from: 5, to: 4 })).toEqual([{ session: "a", from: 5, to: 4 }]);
  expect(places.toStretches([{ session: "a", from: 5, to: 4 }])).toEqual([{ from: 5, to: 4 }]);
});

sizedTest(
  "places and entries map to each other, and stretches survive the conversion to ranges and back",
  () => {
    const ranges = fc.array(
      fc.record({
        session: fc.constantFrom("a", "b"),
        gap: fc.nat(5),
        length: fc.integer({ min: 1, max: 9 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(ranges, fc.nat(60), fc.nat(60), (drawn, one, other) => {
        const next = new Map([
          ["a", 1],
          ["b", 1],
        ]);
        const line = drawn.map(({ session, gap, length }) => {
          const from = (next.get(session) as number) + gap;
          next.set(session, from + length);
          return { session, from, to: from + length - 1 };
        });
        const places = new LinePlaces(line);
        const start = line[0]?.from as number;
        const length = line.reduce((sum, { from, to }) => sum + to - from + 1, 0);
        for (let place = start; place < start + length; place++) {
          const at = places.findEntry(place);
          expect(at && places.findPlace(at)).toBe(place);
        }
        const from = start + (Math.min(one, other) % length);
        const to = start + (Math.max(one, other) % length);
        if (from > to) return;
        const back = places.toStretches(places.toRanges({ from, to }));
        const covered = back.flatMap((stretch) =>
          Array.from({ length: stretch.to - stretch.from + 1 }, (_, at) => stretch.from + at),
        );
        expect(covered).toEqual(Array.from({ length: to - from + 1 }, (_, at) => from + at));
      }),
      { numRuns: proofRounds(500) },
    );
  },
);

test("the gaps and stretches of a window together cover the whole active line", () => {
  expect(
    findGaps(
      [
        { from: 3, to: 5 },
        { from: 4, to: 8 },
        { from: 12, to: 11 },
      ],
      { from: 1, to: 15 },
    ),
  ).toEqual([
    { from: 1, to: 2 },
    { from: 9, to: 15 },
  ]);
  expect(findGaps([{ from: 1, to: 15 }], { from: 1, to: 15 })).toEqual([]);
  expect(findGaps([], { from: 1, to: 0 })).toEqual([]);
});
