import { describe, expect, test } from "vitest";
import { parseCommentedJson } from "../../../src/model/base/parse-commented-json.ts";

describe("JSON with comments", () => {
  test("JSON with comments may contain comments and trailing commas outside strings", () => {
    const text = `\uFEFF{ // one
      "a": "// no comment, /* nor this */ ,}", /* two
      lines */ "b": [1, 2, /* x */ ], "c": "quote \\" // still", }`;
    expect(parseCommentedJson(text)).toEqual({
      a: "// no comment, /* nor this */ ,}",
      b: [1, 2],
      c: 'quote " // still',
    });
  });

  test("JSON with comments throws for other errors", () => {
    for (const text of ["", "{", "{ a: 1 }", "[1,,2]", "{} {}", "/* open"])
      expect(() => parseCommentedJson(text), text).toThrow(SyntaxError);
  });
});
