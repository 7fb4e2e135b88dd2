import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  createStaticEmbedder,
  loadStaticEmbedder,
} from "../../../src/recall/embed/static/static-embedder.ts";
import { readWeights, type Weights } from "../../../src/recall/embed/static/static-weights.ts";
import {
  packTables,
  readTables,
  TABLES_FILE,
  unpackTables,
} from "../../../src/recall/embed/static/stored-tables.ts";
import { buildWordTable } from "../../../src/recall/embed/static/word-table.ts";
import { createTermVectors, mapTerms } from "../../../src/recall/rank/term-vectors.ts";
import { proofTest } from "../../support/proof.ts";
import { smallWeights } from "./small-weights.ts";

/** Packs the tables as the build does. */
function packAll(weights: Weights, id = weights.id): Uint8Array {
  const words = buildWordTable(weights.words, weights.factors.length - weights.pieces);
  return packTables(id, words, mapTerms(createStaticEmbedder(weights)));
}

describe("the stored tables of an embedder", () => {
  proofTest(
    "the stored tables of an embedder give the token and the vectors of every term in the packaged vocabulary",
    () => {
      const weights = readWeights();
      const computed = createStaticEmbedder(weights);
      const tables = unpackTables(Buffer.from(packAll(weights)), weights.id);
      const tokens = mapTerms(computed);
      let different = 0;
      for (const [term, token] of tokens) if (tables?.terms.get(term) !== token) different++;
      expect(different).toBe(0);
      expect(tokens.size).toBeGreaterThan(50_000);
      for (const term of ["", "\n", "zzqzzq", "run\nwalk", "x".repeat(500)])
        expect(tables?.terms.get(term)).toBe(tokens.get(term));
      const stored = createStaticEmbedder(weights, tables);
      const texts = ["Where are tokens validated?", "useState 数据库 don't", "zzqzzq unknowable 2026", ""];
      expect(stored.embed(texts)).toEqual(computed.embed(texts));
      for (const token of [0, 1, 50_000, computed.words - 1, computed.words])
        expect(stored.wordOf(token)).toBe(computed.wordOf(token));
    },
  );

  test("the stored tables of an embedder give the same term vectors as a vocabulary that is stemmed when it is loaded", () => {
    const small = createStaticEmbedder(smallWeights());
    const tables = unpackTables(Buffer.from(packAll(smallWeights())), small.id);
    const [stored, computed] = [createTermVectors(small, tables?.terms), createTermVectors(small)];
    for (const term of ["cat", "dog", "state", "数", "数据", "walk", "unknown"])
      expect(stored.vectorOf(term)).toEqual(computed.vectorOf(term));
    expect(computed.vectorOf("walk")).toBeDefined();
  });

  test("the stored tables of another embedder are not used", () => {
    const bytes = Buffer.from(packAll(smallWeights(), "other-1"));
    expect(unpackTables(bytes, "small-1")).toBeUndefined();
    expect(unpackTables(bytes, "other-1")).toBeDefined();
  });

  test("the stored tables of an embedder are ignored if any byte was changed or cut off", () => {
    const whole = packAll(smallWeights());
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] as number) ^ 0x5a;
      expect(unpackTables(changed, "small-1")).toBeUndefined();
      expect(unpackTables(Buffer.from(whole.slice(0, at)), "small-1")).toBeUndefined();
    }
  });

  proofTest("the built package holds the stored tables of its weights", () => {
    const built = readFileSync(new URL(`../../../dist/${TABLES_FILE}`, import.meta.url));
    expect(built.equals(packAll(readWeights()))).toBe(true);
  });

  test("the stored tables of an embedder are not read from sources, which may differ from the last build", () => {
    expect(readTables(readWeights().id)).toBeUndefined();
    expect(loadStaticEmbedder().terms).toBeUndefined();
  });
});
