import fc from "fast-check";
import { expect, test } from "vitest";
import { forEachBareLine, isVerbatimRange } from "../../../src/window/extract/clue-tracker.ts";
import { withUnits } from "../../../src/window/extract/text-units.ts";
import { isVerbatim, stripLine } from "../../../src/window/extract/verbatim-line.ts";
import { findContained } from "../../../src/window/session/find-removed-names.ts";

const piece = fc.constantFrom(
  ..."ab_09+-:|→\t\r\n \u00a0\ud800".split(""),
  "12→",
  "export const value = ",
  "name_of",
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

test("lines found among code units equal the stripped lines of the text", () => {
  fc.assert(
    fc.property(text, (whole) => {
      const found: { readonly bare: string; readonly isVerbatim: boolean }[] = [];
      withUnits(whole, (units, length) =>
        forEachBareLine(units, length, (from, to) =>
          found.push({ bare: whole.slice(from, to), isVerbatim: isVerbatimRange(units, from, to) }),
        ),
      );
      const bare = whole.split("\n").map(stripLine);
      expect(found).toEqual(bare.map((line) => ({ bare: line, isVerbatim: isVerbatim(line) })));
    }),
  );
});

test("names are found inside other words, however short the names are", () => {
  fc.assert(
    fc.property(fc.array(text), fc.array(text.filter((name) => name !== "")), (texts, names) => {
      const contained = names.filter((name) => texts.some((whole) => whole.includes(name)));
      expect(findContained(names, texts)).toEqual(new Set(contained));
    }),
  );
});
