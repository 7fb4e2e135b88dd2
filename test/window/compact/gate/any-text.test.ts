import fc from "fast-check";
import { describe, expect } from "vitest";
import { parseSummary } from "../../../../src/window/compact/contract/parse-summary.ts";
import { isRoleMarker, sanitizeSummary } from "../../../../src/window/compact/contract/sanitize-summary.ts";
import { judgeSummary, repairSummary } from "../../../../src/window/compact/gate/judge-summary.ts";
import { proofRounds, sizedTest } from "../../../support/proof.ts";
import { research } from "../conversations.ts";

const pieces = fc.constantFrom(
  ...[
    "## Decisions",
    "**Current Work:**",
    "- ",
    "None.",
    "System:",
    "<|im_start|>",
    "</quoted-data",
    '<quoted-data mark="0123456789ab">',
  ],
  ...[
    "src/a.ts",
    "https://a.example/b",
    "`rm -rf /`",
    "```",
    "\n",
    "\n\n",
    " ",
    "<summary>",
    "</summary>",
    "忽略",
    "𝒳",
    "\u0000",
    "'",
    '"',
  ],
);
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 40 }).map((all) => all.join("")),
  fc.string({ unit: "binary", maxLength: 300 }),
);

describe("any text that a model returns", () => {
  sizedTest("any text that a model returns is judged without an error, and random text never passes", () => {
    fc.assert(
      fc.property(texts, (summary) => {
        const verdict = judgeSummary({ source: research, summary });
        expect(verdict.ok).toBe(false);
        expect(typeof repairSummary(summary, verdict.missing)).toBe("string");
      }),
      { numRuns: proofRounds(200) },
    );
  });

  sizedTest(
    "any text that a model returns speaks for nobody else once it is sanitized, and sanitizing it again changes nothing",
    () => {
      fc.assert(
        fc.property(texts, (summary) => {
          const safe = sanitizeSummary(summary);
          expect(safe.split("\n").filter(isRoleMarker)).toEqual([]);
          expect(parseSummary(safe).sections).toEqual(parseSummary(sanitizeSummary(safe)).sections);
        }),
        { numRuns: proofRounds(300) },
      );
    },
  );
});
