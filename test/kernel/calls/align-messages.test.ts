import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignMessages, countOverlap } from "../../../src/kernel/calls/align-messages.ts";

const keys = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });

describe("aligning a line with a caller's messages", () => {
  test("aligning a line always results in the caller's messages", () => {
    fc.assert(
      fc.property(keys, keys, (line, caller) => {
        let next: string[] = [...line];
        let alignment = alignMessages(next, caller);
        while (alignment.type === "drop") {
          const { places } = alignment;
          expect(places.length).toBeGreaterThan(0);
          next = next.filter((_, place) => !places.includes(place));
          alignment = alignMessages(next, caller);
        }
        if (alignment.type === "rewind") next = next.slice(0, alignment.keep);
        if (alignment.type === "replace")
          for (const place of alignment.places) next[place] = caller[place] as string;
        expect([...next, ...caller.slice(next.length)]).toEqual(caller);
      }),
    );
  });

  test("aligning a line never touches equal messages", () => {
    fc.assert(
      fc.property(keys, keys, (line, added) => {
        expect(alignMessages(line, [...line, ...added])).toEqual({ type: "follow", known: line.length });
      }),
    );
  });
});

describe("a caller who sends only new messages", () => {
  test("the overlap of a line and a caller's new messages is as large as possible", () => {
    fc.assert(
      fc.property(keys, keys, (line, caller) => {
        const known = countOverlap(line, caller);
        expect(line.slice(line.length - known)).toEqual(caller.slice(0, known));
      }),
    );
  });
});
