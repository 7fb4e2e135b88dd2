import { describe, expect, test } from "vitest";
import { computeEditDistance, findNearestWords } from "../../src/model/edit-distance.ts";

describe("the nearest words", () => {
  test("the nearest words differ by a typing error, and the best comes first", () => {
    const words = ["import", "sessions", "show", "export"];
    expect(findNearestWords("shwo", words)).toEqual(["show"]);
    expect(findNearestWords("SESSION", words)).toEqual(["sessions"]);
    expect(findNearestWords("emport", words, 2)).toEqual(["import", "export"]);
    expect(findNearestWords("delete", words)).toEqual([]);
    expect(findNearestWords("x", words)).toEqual([]);
  });

  test("the distance counts added, dropped, changed and swapped letters", () => {
    expect(computeEditDistance("same", "same")).toBe(0);
    expect(computeEditDistance("", "abc")).toBe(3);
    expect(computeEditDistance("abcd", "abdc")).toBe(1);
    expect(computeEditDistance("kitten", "sitting")).toBe(3);
  });
});
