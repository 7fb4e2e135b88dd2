import { describe, expect, test } from "vitest";
import { parseCutJson } from "../../../src/histories/reading/parse-cut-json.ts";
import { parseJson } from "../../../src/model/base/parse-json.ts";

const nested = (levels: number, begin = "[", end = "]") => begin.repeat(levels) + end.repeat(levels);

describe("JSON of a source", () => {
  test("JSON of a source is parsed as JSON.parse does", () => {
    const text = JSON.stringify({ a: [1, { b: null }], text: "x".repeat(5_000) });
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(() => parseJson("{")).toThrow(SyntaxError);
  });

  test("JSON of a source is refused if it is nested too deep to be written again", () => {
    expect(JSON.stringify(parseJson(nested(1_000)))).toBe(nested(1_000));
    for (const text of [nested(1_001), nested(50_000), nested(50_000, '{"a":', "}").replace(":}", ":1}")])
      expect(() => parseJson(text)).toThrow("nested deeper than 1000 levels");
    expect(() => parseJson(`{"a":1,"b":[0,${nested(2_000)}],"c":2}`)).toThrow("nested deeper");
  });

  test("cut JSON that is nested too deep gives no value, within a short time", () => {
    expect(parseCutJson("[".repeat(200_000))).toBeUndefined();
    expect(parseCutJson(`${"[1,".repeat(100_000)}tru`)).toBeUndefined();
    expect(parseCutJson(`${"[1,".repeat(100)}tru`)).toBeDefined();
  });

  test("cut JSON of a source is closed at its end", () => {
    expect(parseCutJson('{"a":{"b":[1,2,{"c":"wor')).toEqual({ a: { b: [1, 2, { c: "wor" }] } });
    expect(parseCutJson('{"a":[1,2],"b":tr')).toEqual({ a: [1, 2] });
    expect(parseCutJson('{"a":{"b":1},"c":{"d":{}}, "e')).toEqual({ a: { b: 1 }, c: { d: {} } });
    expect(parseCutJson('[[1],[2,{"a":[3]},4')).toEqual([[1], [2, { a: [3] }, 4]]);
    expect(parseCutJson("words")).toBeUndefined();
  });
});
