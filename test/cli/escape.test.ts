import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeLine, escapeText, toSafeJson } from "../../src/cli/terminal/escape.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const anyText = fc.string({ unit: "binary" });

describe("an escaped text", () => {
  test("an escaped text shows the codes that a terminal would obey", () => {
    expect(escapeText("a\u001b[31mb\u009bc\u202ed\re\u0000")).toBe("a\\x1b[31mb\\x9bc\\u202ed\\re\\x00");
    expect(escapeText("one\r\n\ttwo\n")).toBe("one\n    two\n");
    expect(escapeText("日本語 👩‍👩‍👧 é")).toBe("日本語 👩‍👩‍👧 é");
    expect(escapeText("half \ud83d of one")).toBe("half \ufffd of one");
  });

  test("an escaped text never contains a code that a terminal would obey", () => {
    fc.assert(fc.property(anyText, (text) => !OBEYED.test(escapeText(text))));
    fc.assert(
      fc.property(anyText, (text) => !OBEYED.test(escapeLine(text)) && !escapeLine(text).includes("\n")),
    );
  });
});

describe("safe JSON", () => {
  test("safe JSON has the same value, without codes that a terminal would obey", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const text = toSafeJson(value);
        expect(text).not.toMatch(OBEYED);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
