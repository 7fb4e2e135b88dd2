import { expect, test } from "vitest";
import { parseDuration, parseSize } from "../../../src/cli/tasks/units.ts";

test("durations and sizes are read in common units, and other texts are refused with an example", () => {
  expect(["500ms", "90s", "10m", "2h", "1d"].map((text) => parseDuration("deadline", text))).toEqual([
    500, 90_000, 600_000, 7_200_000, 86_400_000,
  ]);
  expect(["4096", "64k", "10MB", "1GiB"].map((text) => parseSize("max-output", text))).toEqual([
    4_096,
    65_536,
    10 * 2 ** 20,
    2 ** 30,
  ]);
  for (const text of ["10", "-1s", "soon", "1.5h"])
    expect(() => parseDuration("deadline", text)).toThrow(/^--deadline is .*such as 90s, 10m/);
  for (const text of ["0", "much", "1t"])
    expect(() => parseSize("max-output", text)).toThrow(/^--max-output is .*such as 64k/);
});
