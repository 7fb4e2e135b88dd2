import { describe, expect, test } from "vitest";
import { editDistance, nearestWords } from "../../src/model/nearest.ts";

describe("the nearest words", () => {
  test("are those a slip of the finger away, best first", () => {
    const words = ["import", "sessions", "show", "export"];
    expect(nearestWords("shwo", words)).toEqual(["show"]);
    expect(nearestWords("SESSION", words)).toEqual(["sessions"]);
    expect(nearestWords("emport", words, 2)).toEqual(["import", "export"]);
    expect(nearestWords("delete", words)).toEqual([]);
    expect(nearestWords("x", words)).toEqual([]);
  });

  test("are measured in letters added, dropped, changed or swapped", () => {
    expect(editDistance("same", "same")).toBe(0);
    expect(editDistance("", "abc")).toBe(3);
    expect(editDistance("abcd", "abdc")).toBe(1);
    expect(editDistance("kitten", "sitting")).toBe(3);
  });
});
