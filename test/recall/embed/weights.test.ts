import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { isLonghaulError } from "../../../src/model/errors.ts";
import { loadStaticEmbedder } from "../../../src/recall/embed/static/static-embedder.ts";
import { packWeights, unpackWeights } from "../../../src/recall/embed/static/static-weights.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { smallWeights } from "./small-weights.ts";

const folder = mkdtempSync(join(tmpdir(), "longhaul-weights-"));
afterAll(() => rmSync(folder, { recursive: true }));

const errorOf = (path: string): unknown => {
  try {
    loadStaticEmbedder(path);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("a weights file", () => {
  test("a weights file gives back what was packed into it", () => {
    const weights = smallWeights();
    expect(unpackWeights(Buffer.from(packWeights(weights)))).toEqual(weights);
  });

  test("a missing weights file is reported by name, with the remedy", () => {
    const error = errorOf(join(folder, "nowhere.bin"));
    expect(isLonghaulError(error, "EMBEDDER_DAMAGED")).toBe(true);
    expect(String(error)).toMatch(/nowhere\.bin.*Install the package again/);
  });

  sizedTest("a weights file is refused if any byte was changed or cut off", () => {
    const whole = packWeights(smallWeights());
    const path = join(folder, "damaged.bin");
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        (at, change, cut) => {
          const bytes = cut ? whole.slice(0, at) : whole.slice();
          if (!cut) bytes[at] = (bytes[at] as number) ^ change;
          writeFileSync(path, bytes);
          expect(isLonghaulError(errorOf(path), "EMBEDDER_DAMAGED")).toBe(true);
        },
      ),
      { numRuns: proofRounds(60) },
    );
  });

  test("a weights file is part of the package, within its size limit, next to the list of its training sources", () => {
    const models = new URL("../../../models/embedder/", import.meta.url);
    expect(readFileSync(new URL("static.bin", models)).length).toBeLessThanOrEqual(16_000_000);
    expect(readFileSync(new URL("SOURCES.md", models), "utf8")).toMatch(/CC-BY/);
  });
});
