import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { copyString } from "../../src/model/text-codes.ts";
import { proofTest } from "../support/proof.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("a copied string equals the original", () => {
  fc.assert(fc.property(fc.string(), (text) => copyString(text) === text));
});

proofTest("copied substrings do not keep their original texts in memory", () => {
  const TEXT_BYTES = 500_000;
  const TEXTS = 40;
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: TEXTS }, (_, n) => {
    const text = Buffer.alloc(TEXT_BYTES, `text ${n} `).toString("latin1");
    return copyString(text.slice(-40));
  });
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan((TEXTS * TEXT_BYTES) / 4);
  expect(kept).toHaveLength(TEXTS);
});
