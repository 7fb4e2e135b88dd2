import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignMessages, countOverlap } from "../../../src/kernel/calls/align-messages.ts";

const keys = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });

describe("bringing a line to what a caller says", () => {
  test("bringing a line to what a caller says always ends with the caller's words", () => {
    fc.assert(
      fc.property(keys, keys, (line, caller) => {
        const alignment = alignMessages(line, caller);
        let next: string[] = [...line];
        if (alignment.type === "rewind") next = next.slice(0, alignment.keep);
        if (alignment.type === "replace")
          for (const place of alignment.places) next[place] = caller[place] as string;
        expect([...next, ...caller.slice(next.length)]).toEqual(caller);
      }),
    );
  });

  test("bringing a line to what a caller says never touches what is the same", () => {
    fc.assert(
      fc.property(keys, keys, (line, added) => {
        expect(alignMessages(line, [...line, ...added])).toEqual({ type: "follow", known: line.length });
      }),
    );
  });
});

describe("a caller who says only what is new", () => {
  test("a caller who says only what is new is understood to repeat as much as can be", () => {
    fc.assert(
      fc.property(keys, keys, (line, caller) => {
        const known = countOverlap(line, caller);
        expect(line.slice(line.length - known)).toEqual(caller.slice(0, known));
      }),
    );
  });
});
