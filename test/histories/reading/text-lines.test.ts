import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitTextLines, type TextLine } from "../../../src/histories/reading/json-lines.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { chunkedBytes, chunksOf, reusing } from "./chunked.ts";

/** Cuts chunks into lines; copies their bytes before the next batch. */
async function cut(chunks: readonly Buffer[], maxBytes = 1_000, start?: { offset: number; lines: number }) {
  const all: (Omit<TextLine, "bytes"> & { readonly text: string | undefined })[] = [];
  for await (const batch of splitTextLines(reusing(chunks), maxBytes, start))
    for (const { bytes, ...line } of batch) all.push({ ...line, text: bytes?.toString("latin1") });
  return all;
}

const lineBytes = fc
  .array(fc.constantFrom(0, 10, 10, 13, 32, 65, 0xc3, 0xa4), { maxLength: 60 })
  .map((bytes) => Buffer.from(bytes));

describe("lines", () => {
  sizedTest("lines are split at line breaks, wherever the chunks are cut", async () => {
    await fc.assert(
      fc.asyncProperty(chunkedBytes(lineBytes), async ({ bytes, chunks }) => {
        const texts = bytes.toString("latin1").split("\n");
        const isLastEnded = texts.at(-1) === "";
        if (isLastEnded) texts.pop();
        const lines = await cut(chunks);
        expect(lines.map(({ text }) => text)).toEqual(texts);
        expect(lines.map(({ number }) => number)).toEqual(texts.map((_, index) => index + 1));
        expect(lines.map(({ sizeBytes }) => sizeBytes)).toEqual(texts.map(({ length }) => length));
        expect(lines.map(({ isEnded }) => isEnded)).toEqual(
          texts.map((_, index) => isLastEnded || index < texts.length - 1),
        );
        expect(lines.at(-1)?.end ?? 0).toBe(bytes.length);
      }),
      { numRuns: proofRounds(500) },
    );
  });

  sizedTest("lines longer than the limit are counted and not held, wherever the chunks are cut", async () => {
    await fc.assert(
      fc.asyncProperty(chunkedBytes(lineBytes), fc.nat(8), async ({ chunks }, limit) => {
        const whole = await cut(chunks);
        const limited = await cut(chunks, limit);
        expect(limited).toEqual(
          whole.map((line) => (line.sizeBytes <= limit ? line : { ...line, text: undefined })),
        );
      }),
      { numRuns: proofRounds(500) },
    );
  });

  test("lines from any line end on equal the rest of all lines", async () => {
    await fc.assert(
      fc.asyncProperty(lineBytes, fc.nat(20), async (bytes, some) => {
        const all = await cut([bytes]);
        const from = Math.min(some, all.length);
        const start = { offset: all[from - 1]?.end ?? 0, lines: from };
        expect(await cut(chunksOf(bytes.subarray(start.offset), [3, 7]), 1_000, start)).toEqual(
          all.slice(from),
        );
      }),
    );
  });
});
