import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonLine, readJsonLines } from "../../../src/histories/reading/json-lines.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { chunkedBytes, collect, reusing } from "./chunked.ts";

const read = async (chunks: readonly (Buffer | string)[], maxRecordBytes = 1_000): Promise<JsonLine[]> =>
  (
    await collect(readJsonLines(reusing(chunks.map((chunk) => Buffer.from(chunk as string))), maxRecordBytes))
  ).flat();

/** Without backslashes in names: a bug of JSON.parse in Node 24 then confuses the names `"` and `\\`. */
const record = fc.dictionary(
  fc.string().filter((name) => !name.includes("\\")),
  fc.jsonValue(),
);

describe("the records of a JSONL file", () => {
  sizedTest(
    "the records of a JSONL file are read as written, wherever the chunks are cut and whatever the line breaks",
    async () => {
      const file = fc
        .tuple(
          fc.array(record, { maxLength: 6 }),
          fc.constantFrom("\n", "\r\n", "\n\n", "\n  \t\n"),
          fc.boolean(),
        )
        .chain(([records, lineBreak, isEnded]) => {
          const text =
            records.map((value) => JSON.stringify(value)).join(lineBreak) + (isEnded ? lineBreak : "");
          return chunkedBytes(fc.constant(Buffer.from(text))).map(({ chunks }) => ({ records, chunks }));
        });
      await fc.assert(
        fc.asyncProperty(file, async ({ records, chunks }) => {
          const lines = await read(chunks, 100_000);
          expect(lines.map((line) => JSON.stringify(line.record))).toEqual(
            records.map((value) => JSON.stringify(JSON.parse(JSON.stringify(value)))),
          );
          expect(lines.filter(({ problem }) => problem !== undefined)).toEqual([]);
        }),
        { numRuns: proofRounds(300) },
      );
    },
  );

  test("a JSONL file cut at any byte gives a prefix of its records, and marks the cut one", async () => {
    const text = Buffer.from('{"a":"ä\\n"}\n{"b":{"c":[1,2]}}\n{"d":"𝄞"}');
    const whole = await read([text]);
    for (let end = 0; end <= text.length; end++) {
      const lines = await read([text.subarray(0, end)]);
      const records = lines.flatMap(({ record }) => (record ? [record] : []));
      expect(records).toEqual(whole.slice(0, records.length).map(({ record }) => record));
      const broken = lines.filter(({ record }) => record === undefined);
      expect(broken.length).toBeLessThanOrEqual(1);
      for (const line of broken) {
        expect(line).toMatchObject({ isCut: true, problem: "the file ends in the middle of a record" });
        expect(line).toBe(lines.at(-1));
      }
    }
  });

  test("a record of a JSONL file says whether its line break was written", async () => {
    expect(await read(['{"a":1}\n{"b":2}'])).toEqual([
      { line: 1, end: 8, sizeBytes: 7, record: { a: 1 } },
      { line: 2, end: 15, sizeBytes: 7, record: { b: 2 }, isOpen: true },
    ]);
  });

  test("the records of a JSONL file are found after a byte order mark", async () => {
    expect((await read(['\uFEFF{"a":1}\n{"b":2}\n'])).map(({ record }) => record)).toEqual([
      { a: 1 },
      { b: 2 },
    ]);
  });

  test("a record of a JSONL file with invalid bytes is read with U+FFFD and reported, but not one that contains U+FFFD itself", async () => {
    const wrong = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}\n')]);
    expect(await read([wrong, '{"a":"\uFFFD"}\n'])).toEqual([
      {
        line: 1,
        end: wrong.length,
        sizeBytes: wrong.length - 1,
        record: { a: "\uFFFD\uFFFD" },
        problem: "not UTF-8; the wrong bytes were replaced by U+FFFD",
      },
      { line: 2, end: wrong.length + 12, sizeBytes: 11, record: { a: "\uFFFD" } },
    ]);
  });

  test("a record of a JSONL file above the limit is skipped and reported, and the next ones are read", async () => {
    const long = JSON.stringify({ text: "x".repeat(5_000) });
    const lines = await read([`${long.slice(0, 1_500)}`, `${long.slice(1_500)}\n{"a":1}\n`]);
    expect(lines).toMatchObject([
      { line: 1, sizeBytes: long.length, problem: `longer than 1000 bytes (${long.length}); not read` },
      { line: 2, record: { a: 1 } },
    ]);
  });

  test("a line of a JSONL file that is not an object is a problem", async () => {
    const lines = await read(['[1]\n"words"\nnull\n7\n{"a":\n\0\0\0\n{"a":1}\0\n{"b":1}\n']);
    expect(lines.map(({ line, record, problem }) => [line, record ?? problem?.slice(0, 8)])).toEqual([
      [1, "not a JS"],
      [2, "not a JS"],
      [3, "not a JS"],
      [4, "not a JS"],
      [5, "not JSON"],
      [6, "not JSON"],
      [7, "not JSON"],
      [8, { b: 1 }],
    ]);
  });

  test("a key of a JSONL record may be called __proto__ without changing the prototype", async () => {
    const [line] = await read(['{"__proto__":{"polluted":true}}\n']);
    expect(Object.getPrototypeOf(line?.record)).toBe(Object.prototype);
    expect(Object.hasOwn(line?.record as object, "__proto__")).toBe(true);
    expect("polluted" in {}).toBe(false);
  });

  sizedTest("random lines give problems and never an exception", async () => {
    await fc.assert(
      fc.asyncProperty(
        chunkedBytes(fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))),
        async ({ chunks }) => {
          for (const line of await read(chunks, 50))
            expect(line.record !== undefined || line.problem !== undefined).toBe(true);
        },
      ),
      { numRuns: proofRounds(500) },
    );
  });
});
