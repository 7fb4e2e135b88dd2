import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createPackagedReader } from "../../../src/memory/careful/candidate-reader.ts";
import { PairReader } from "../../../src/memory/careful/pair-reader.ts";
import { readReaderWeights } from "../../../src/memory/careful/reader-weights.ts";
import { isLonghaulError } from "../../../src/model/errors.ts";

const folder = mkdtempSync(join(tmpdir(), "longhaul-reader-"));
afterAll(() => rmSync(folder, { recursive: true }));

const QUESTION = "What is the name of my dog?";
const PASSAGES = [
  "assistant: Dogs are great pets, and they need a walk every day.",
  "user: I adopted a puppy last week and we call him Max.",
  "user: I had pizza for dinner.",
];

describe("the packaged reader", () => {
  test("scores the passage that answers a question highest", async () => {
    const scores = await createPackagedReader().read(QUESTION, PASSAGES);
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
    expect(scores.indexOf(Math.min(...scores))).toBe(2);
  });

  test("gives the same scores each time, whatever was read before", () => {
    const reader = new PairReader(readReaderWeights());
    const first = PASSAGES.map((passage) => reader.score(QUESTION, passage));
    reader.score("Which port does staging use?", "tool: listening on 4821");
    expect(PASSAGES.map((passage) => reader.score(QUESTION, passage))).toEqual(first);
  });

  test("computes nearly the same with and without relaxed SIMD", () => {
    const weights = readReaderWeights();
    const [relaxed, plain] = ["kernel.wasm", "kernel-plain.wasm"].map(
      (kernel) => new PairReader(weights, [kernel]),
    );
    for (const passage of PASSAGES)
      expect(relaxed?.score(QUESTION, passage)).toBeCloseTo(plain?.score(QUESTION, passage) ?? 0, 2);
  });

  test("reads an empty passage, an endless one and any characters", () => {
    const reader = new PairReader(readReaderWeights());
    for (const text of ["", "word ".repeat(5_000), "\u0000\ud800 中文 🙂"])
      expect(Number.isFinite(reader.score(text, text))).toBe(true);
  });

  test("stops when the call is aborted", async () => {
    const signal = AbortSignal.abort();
    const reading = createPackagedReader().read(QUESTION, PASSAGES, { signal });
    await expect(reading).rejects.toSatisfy((error) => isLonghaulError(error, "ABORTED"));
  });

  test("that is missing or altered is refused with its name and the remedy", async () => {
    const path = join(folder, "reader.bin");
    await expect(createPackagedReader(path).read(QUESTION, PASSAGES)).rejects.toThrow(/reader\.bin.*Install/);
    const bytes = readFileSync(new URL("../../../models/reader/reader.bin", import.meta.url));
    bytes[1_000_000] = (bytes[1_000_000] as number) ^ 1;
    writeFileSync(path, bytes);
    await expect(createPackagedReader(path).read(QUESTION, PASSAGES)).rejects.toSatisfy((error) =>
      isLonghaulError(error, "READER_DAMAGED"),
    );
  });

  test("comes with the list of what it learnt from", () => {
    const sources = readFileSync(new URL("../../../models/reader/SOURCES.md", import.meta.url), "utf8");
    expect(sources).toMatch(/Apache-2\.0/);
    expect(sources).toMatch(/CC-BY/);
  });
});
