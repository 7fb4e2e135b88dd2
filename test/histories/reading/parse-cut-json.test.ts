import { describe, expect, test } from "vitest";
import { parseCutJson } from "../../../src/histories/reading/parse-cut-json.ts";

describe("JSON that is cut short", () => {
  test.each([
    ['{"a":1}', { a: 1 }],
    ['{"a":1,"b":[{"c":"de', { a: 1, b: [{ c: "de" }] }],
    ["[1,2,", [1, 2]],
    ['[{"a":tr', [{}]],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":1,"b":', { a: 1 }],
    ['["x\\', ["x"]],
    ['["x\\u00', ["x"]],
    ['["a]b\\"c', ['a]b"c']],
    ["", undefined],
    ["words", undefined],
  ])("%s is read up to the cut", (text, value) => {
    expect(parseCutJson(text)).toEqual(value);
  });

  test("JSON cut at any place is read up to the cut, without wrong values", () => {
    const whole = JSON.stringify({ a: [1, 't\\w"o', { b: null, c: [true, "é"] }], d: { e: {} } });
    for (let end = 1; end <= whole.length; end++) expect(parseCutJson(whole.slice(0, end))).toBeDefined();
  });
});
