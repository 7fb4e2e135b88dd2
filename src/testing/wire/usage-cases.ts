import assert from "node:assert/strict";
import type { WireProof } from "./wire-proof.ts";

export const usageCases: readonly WireProof[] = [
  [
    "usage: a report is parsed into counts that do not overlap",
    async (wire, { report, usage }) => assert.deepEqual(wire.parseUsage(report), usage),
  ],
  [
    "usage: a report without counts is none",
    async (wire) => {
      for (const report of [undefined, null, 7, "usage", [], {}, { x_unknown: 1 }])
        assert.equal(wire.parseUsage(report), undefined);
    },
  ],
  [
    "usage: a cap lowers the input tokens of a reply, and leaves a smaller reply alone",
    async (wire, { body }) => {
      const text = JSON.stringify(body);
      assert.equal(wire.capUsage(text, Number.MAX_SAFE_INTEGER), undefined);
      const capped = wire.capUsage(text, 10);
      assert.ok(capped !== undefined);
      const reader = wire.createReader();
      reader.takeWhole(capped);
      const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = reader.usage ?? {};
      assert.equal(inputTokens + cacheReadTokens + cacheWriteTokens, 10);
    },
  ],
];
