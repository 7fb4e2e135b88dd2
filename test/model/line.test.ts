import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  buildLineAfter,
  buildRemoval,
  buildReplacement,
  changeLine,
  closeLine,
  findRangeIndex,
  findRemoval,
  keepBefore,
  keepThrough,
  type Line,
  MAX_LINE_RANGES,
} from "../../src/model/line.ts";
import { proofRounds, sizedTest } from "../support/proof.ts";

const S = "s";
const at = (seq: number) => ({ session: S, seq });
const range = (from: number, to: number, session = S) => ({ session, from, to });
const replacePlace = (line: Line, place: ReturnType<typeof at>, inserted: Line) =>
  changeLine(line, buildReplacement(line, place, inserted));
const removePlaces = (line: Line, places: readonly ReturnType<typeof at>[]) =>
  changeLine(line, buildRemoval(line, places));
const seqsOf = (line: Line) =>
  line.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

describe("a line", () => {
  test("a line starts as the whole log", () => {
    expect(buildLineAfter(S, 0, [])).toEqual([range(1, Number.POSITIVE_INFINITY)]);
    expect(closeLine(buildLineAfter(S, 0, []), 3)).toEqual([range(1, 3)]);
    expect(closeLine(buildLineAfter(S, 0, []), 0)).toEqual([]);
  });

  test("a line can be cut before or after an entry", () => {
    const line = [range(1, 40), range(97, 120)];
    expect(keepThrough(line, at(100))).toEqual([range(1, 40), range(97, 100)]);
    expect(keepBefore(line, at(97))).toEqual([range(1, 40)]);
    expect(keepBefore(line, at(1))).toEqual([]);
  });

  test("an entry of a line can be removed or replaced", () => {
    expect(replacePlace([range(1, 5)], at(3), [])).toEqual([range(1, 2), range(4, 5)]);
    expect(replacePlace([range(1, 5)], at(5), [range(9, 9)])).toEqual([range(1, 4), range(9, 9)]);
    expect(replacePlace([range(1, 5)], at(5), [range(5, 5)])).toEqual([range(1, 5)]);
  });

  test("a line refuses an entry that is not on it, by session and seq", () => {
    expect(() => keepThrough([range(1, 5)], at(6))).toThrow(expect.objectContaining({ code: "NOT_ON_LINE" }));
    expect(() => keepThrough([range(1, 5, "other")], at(3))).toThrow(
      expect.objectContaining({ code: "NOT_ON_LINE" }),
    );
  });

  test("a line refuses to grow beyond its bound", () => {
    const line = Array.from({ length: MAX_LINE_RANGES }, (_, index) => range(index * 10 + 1, index * 10 + 5));
    expect(() => replacePlace(line, at(3), [])).toThrow(expect.objectContaining({ code: "LINE_LIMIT" }));
  });

  test("removing several entries at once equals removing them one by one", () => {
    const line = [range(1, 9), range(20, 20), range(30, 34)];
    expect(
      removePlaces(
        line,
        [3, 4, 9, 20, 30].map((seq) => at(seq)),
      ),
    ).toEqual([range(1, 2), range(5, 8), range(31, 34)]);
    expect(() => removePlaces(line, [at(3), at(10)])).toThrow(
      expect.objectContaining({ code: "NOT_ON_LINE" }),
    );
  });

  sizedTest("a line behaves like an array of seqs through any series of changes", () => {
    const change = fc.record({
      kind: fc.constantFrom("through", "before", "remove", "replace"),
      pick: fc.nat(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(change, { maxLength: 25 }), (size, changes) => {
        let line: Line = [range(1, size)];
        let model = seqsOf(line);
        let fresh = 1_000;
        for (const { kind, pick } of changes) {
          if (model.length === 0) break;
          const index = pick % model.length;
          const seq = model[index] as number;
          const before = line;
          if (kind === "through") [line, model] = [keepThrough(line, at(seq)), model.slice(0, index + 1)];
          if (kind === "before") [line, model] = [keepBefore(line, at(seq)), model.slice(0, index)];
          if (kind === "remove") [line, model] = [replacePlace(line, at(seq), []), model.toSpliced(index, 1)];
          if (kind === "replace") {
            fresh += 2;
            [line, model] = [
              replacePlace(line, at(seq), [range(fresh, fresh)]),
              model.toSpliced(index, 1, fresh),
            ];
          }
          const removal = kind === "replace" ? undefined : findRemoval(before, line);
          if (removal) expect(changeLine(before, removal)).toEqual(line);
          expect(seqsOf(line)).toEqual(model);
          for (const held of model) expect(findRangeIndex(line, S, held)).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: proofRounds(500) },
    );
  });
});
