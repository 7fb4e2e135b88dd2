import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonElement, readJsonElements } from "../../../src/histories/reading/json-elements.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { chunkedBytes, chunksOf, collect, reusing } from "./chunked.ts";

const read = (chunks: readonly Buffer[], arrays: readonly string[] = [], maxRecordBytes = 100_000) =>
  collect(readJsonElements(reusing(chunks), { arrays, maxRecordBytes }));

/** Without backslashes: a bug of JSON.parse in Node 24 then confuses the names `"` and `\\`. */
const fieldName = fc.string().filter((name) => !name.includes("\\"));

const document = fc.oneof(
  fc.array(fc.jsonValue(), { maxLength: 6 }),
  fc.dictionary(
    fc.oneof(fc.constantFrom("messages", "history", "a:b", '"', "\n"), fieldName),
    fc.jsonValue(),
  ),
  fc.record({ messages: fc.array(fc.jsonValue(), { maxLength: 6 }), info: fc.jsonValue() }),
);

/** A document as text, compact or indented, with cut positions. */
const written = fc.tuple(document, fc.constantFrom(undefined, 2, "\t")).chain(([value, indent]) => {
  const bytes = Buffer.from(JSON.stringify(value, null, indent));
  return chunkedBytes(fc.constant(bytes)).map((chunked) => ({
    ...chunked,
    value: JSON.parse(String(bytes)),
  }));
});

/** The expected elements of a document, from the parsed whole. */
function expected(
  value: unknown,
  arrays: readonly string[],
): Pick<JsonElement, "field" | "index" | "value">[] {
  if (Array.isArray(value)) return value.map((element, index) => ({ field: "", index, value: element }));
  return Object.entries(value as object).flatMap(([field, inner]): Pick<JsonElement, "field">[] =>
    arrays.includes(field) && Array.isArray(inner)
      ? inner.map((element, index) => ({ field, index, value: element }))
      : [{ field, value: inner } as Pick<JsonElement, "field">],
  );
}

/** Elements without positions. Keys may be in another order: objects list numeric keys first. */
const plain = (elements: readonly JsonElement[]) =>
  elements.map(({ field, index, value, problem }) => ({
    field,
    ...(index !== undefined && { index }),
    ...(problem === undefined ? { value } : { problem }),
  }));

const sorted = (elements: readonly { field: string; index?: number }[]) =>
  [...elements].sort((a, b) =>
    a.field < b.field ? -1 : a.field > b.field ? 1 : (a.index ?? 0) - (b.index ?? 0),
  );

describe("the elements of a JSON file", () => {
  sizedTest(
    "the elements of a JSON file are the same that JSON.parse finds, wherever the chunks are cut",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          written,
          fc.subarray(["messages", "history", "__proto__"]),
          async ({ chunks, value }, arrays) => {
            const elements = await read(chunks, arrays);
            expect(sorted(plain(elements))).toEqual(sorted(expected(value, arrays)));
          },
        ),
        { numRuns: proofRounds(1_000) },
      );
    },
  );

  sizedTest(
    "the elements of a JSON file cut at any byte are a prefix and one problem, never an exception",
    async () => {
      await fc.assert(
        fc.asyncProperty(written, fc.nat(), async ({ bytes }, some) => {
          const end = some % bytes.length;
          const whole = plain(await read([bytes], ["messages"]));
          const cut = await read(chunksOf(bytes.subarray(0, end), [end >> 1]), ["messages"]);
          expect(cut.at(-1)).toMatchObject({ isCut: true });
          expect(plain(cut.slice(0, -1))).toEqual(whole.slice(0, cut.length - 1));
        }),
        { numRuns: proofRounds(1_000) },
      );
    },
  );

  test("the elements of a JSON file have their line and size", async () => {
    const text = '{\n  "id": "a",\n  "messages": [\n    {"n": 1},\n\n    {\n      "n": 2\n    }\n  ]\n}\n';
    expect(await read([Buffer.from(text)], ["messages"])).toMatchObject([
      { field: "id", line: 2 },
      { field: "messages", index: 0, line: 4 },
      { field: "messages", index: 1, line: 6 },
    ]);
  });

  test("an element above the limit is reported and not held in memory, and the others are read", async () => {
    const long = { text: "x".repeat(300) };
    const bytes = Buffer.from(JSON.stringify([1, long, 2]));
    for (const cut of [5, 50, 250]) {
      const elements = await read(chunksOf(bytes, [cut]), [], 100);
      expect(plain(elements)).toEqual([
        { field: "", index: 0, value: 1 },
        { field: "", index: 1, problem: "longer than 100 bytes (311); not read" },
        { field: "", index: 2, value: 2 },
      ]);
    }
  });

  test("a broken element of a JSON file is reported, and its neighbours are read", async () => {
    const elements = await read([Buffer.from('[{"a":1},{"b":tru},{"c":2}]')]);
    expect(plain(elements)).toMatchObject([
      { index: 0, value: { a: 1 } },
      { index: 1, problem: expect.stringContaining("not JSON") },
      { index: 2, value: { c: 2 } },
    ]);
  });

  test("an element of a JSON file with invalid bytes is read with U+FFFD and reported", async () => {
    const bytes = Buffer.concat([Buffer.from('["'), Buffer.from([0xff]), Buffer.from('",1]')]);
    expect(await read([bytes])).toMatchObject([
      { value: "\uFFFD", problem: "not UTF-8; the wrong bytes were replaced by U+FFFD" },
      { value: 1 },
    ]);
  });

  test("the elements of a JSON file are found after a byte order mark, even a cut one", async () => {
    const bytes = Buffer.from("\uFEFF[1,2]");
    for (const cut of [0, 1, 2, 3]) expect(plain(await read(chunksOf(bytes, [cut])))).toHaveLength(2);
  });

  test("a JSON file that is empty or holds neither object nor array is one problem", async () => {
    expect(await read([])).toMatchObject([{ problem: "the file is empty", isCut: true }]);
    for (const text of ["  \n", "\0\0\0"])
      expect(await read([Buffer.from(text)])).toMatchObject([{ problem: "the file is empty" }]);
    for (const text of ["words", '"words"', "12", "null"])
      expect(await read([Buffer.from(text)])).toMatchObject([
        { problem: "the file holds neither a JSON object nor an array" },
      ]);
  });

  test("an element nested ten thousand levels deep is reported, and the others are read", async () => {
    const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
    const elements = await read([Buffer.from(`{"deep":${deep},"after":1}`)]);
    expect(elements.map(({ field, problem }) => [field, problem])).toEqual([
      ["deep", "nested deeper than 1000 levels; not read"],
      ["after", undefined],
    ]);
  });

  sizedTest("random bytes give values or problems, and reading ends", async () => {
    const letters = fc
      .array(fc.constantFrom(...'[]{},:"\\ \n1atrue\u00e4'), { maxLength: 80 })
      .map((all) => Buffer.from(all.join("")));
    await fc.assert(
      fc.asyncProperty(chunkedBytes(letters), async ({ bytes, chunks }) => {
        const elements = await read(chunks, ["a"], 20);
        expect(elements.length).toBeLessThanOrEqual(bytes.length + 1);
        expect(elements).toEqual(await read([bytes], ["a"], 20));
      }),
      { numRuns: proofRounds(2_000) },
    );
  });
});
