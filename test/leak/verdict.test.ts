import { expect, test } from "vitest";
import type { SoakSample } from "../soak/soak.ts";
import { growthOf, growthTable } from "../soak/verdict.ts";

const FLAT: Omit<SoakSample, "requests" | "heapBytes"> = {
  codeBytes: 12e6,
  rssBytes: 200e6,
  externalBytes: 12e6,
  arrayBufferBytes: 1e6,
  walBytes: 4e6,
  files: 40,
  timers: 0,
  resources: 9,
  listeners: 2,
  openSessions: 40,
  openDrafts: 0,
  openTails: 0,
};

/** Samples of a soak of 20,000 requests with the given heap sizes. */
const samplesOf = (heapAt: (requests: number) => number): SoakSample[] =>
  Array.from({ length: 40 }, (_, place) => ({
    ...FLAT,
    requests: (place + 1) * 500,
    heapBytes: heapAt((place + 1) * 500),
  }));

const LIMITS = { heapBytes: 1e6, rssBytes: 2e6, files: 5 };
const growing = (heapAt: (requests: number) => number) =>
  growthOf(samplesOf(heapAt), LIMITS).flatMap(({ name, isGrowing }) => (isGrowing ? [name] : []));

test("a heap that grows by 100 bytes a request counts as growth, and a heap that a full cache holds up does not", () => {
  expect(growing((requests) => 40e6 + requests * 100)).toEqual(["heapBytes"]);
  expect(growing((requests) => 40e6 + Math.min(requests, 9_000) * 1_000)).toEqual([]);
  expect(growing((requests) => 50e6 - requests * 100)).toEqual([]);
});

test("noise around a flat line does not count as growth", () => {
  expect(growing((requests) => 40e6 + (requests % 1_500) * 1_000)).toEqual([]);
});

test("the growth table names every quantity with its slope, its limit and the verdict", () => {
  const table = growthTable(
    growthOf(
      samplesOf((requests) => 40e6 + requests * 200),
      LIMITS,
    ),
  ).split("\n");
  expect(table).toHaveLength(14);
  expect(table[1]).toMatch(/heapBytes +40\.10 MB +42\.10 MB +44\.00 MB +2\.00 MB +< 1\.00 MB +GROWS/);
  expect(table[3]).toMatch(/rssBytes .* flat$/);
});
