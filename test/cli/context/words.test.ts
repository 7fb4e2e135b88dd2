import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apportionColumns } from "../../../src/cli/commands/context-command.ts";
import { parseMoment } from "../../../src/cli/commands/revert-command.ts";
import { formatDollars } from "../../../src/cli/terminal/format-dollars.ts";
import { formatTokenChange, parseTokensOption } from "../../../src/cli/terminal/tokens.ts";
import { measureWidth } from "../../../src/cli/terminal/width.ts";
import { wrapText } from "../../../src/cli/terminal/wrap-text.ts";
import { explainEdit } from "../../../src/cli/transcript/describe-edit.ts";
import type { Receipt } from "../../../src/kernel/index.ts";

describe("a bar", () => {
  test("a bar fills its columns, and shows every part while there is room", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        (counts, columns) => {
          const widths = apportionColumns(counts, columns);
          const some = counts.filter((count) => count > 0).length;
          expect(widths.reduce((sum, width) => sum + width, 0)).toBe(some === 0 ? 0 : columns);
          for (const [index, count] of counts.entries()) {
            if (count === 0) expect(widths[index]).toBe(0);
            else if (columns >= some) expect(widths[index]).toBeGreaterThan(0);
          }
        },
      ),
    );
  });
});

describe("texts about windows", () => {
  test("tokens and dollars are printed with their significant digits", () => {
    expect(formatTokenChange(120_000, 48_000)).toBe("120,000 → 48,000 tokens (−60%)");
    expect(formatTokenChange(0, 10)).toBe("0 → 10 tokens");
    expect([0, 0.03711, 0.5, 12.3, 1_204.5].map(formatDollars)).toEqual([
      "$0",
      "$0.0371",
      "$0.5000",
      "$12.30",
      "$1,204.50",
    ]);
    expect(["64000", "64k", "1.5M"].map((text) => parseTokensOption("window", text))).toEqual([
      64_000, 64_000, 1_500_000,
    ]);
    for (const text of ["", "k", "-3", "1e99", "64kb"])
      expect(() => parseTokensOption("window", text)).toThrow("--window is");
  });

  test("an edit without a reason is explained by its receipt", () => {
    const receipt = { policy: "longhaul", cache: "hot", isForced: false, breakEvenCalls: 7 } as Receipt;
    expect(explainEdit({ reason: "over the limit", receipt })).toBe("over the limit");
    expect(explainEdit({ reason: "longhaul", receipt })).toBe(
      "longhaul estimated savings after 7 more calls",
    );
    expect(explainEdit({ reason: "longhaul", receipt: { ...receipt, isForced: true } })).toBe(
      "the window was over its limit",
    );
    expect(explainEdit({ reason: "compaction" })).toBe("compaction");
  });

  test("text is wrapped between words, and no word is lost", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,9}$/)),
        fc.integer({ min: 9, max: 40 }),
        (words, columns) => {
          const lines = wrapText(words.join(" "), columns);
          expect(lines.join(" ")).toBe(words.join(" "));
          expect(lines.every((line) => measureWidth(line) <= columns)).toBe(true);
        },
      ),
    );
  });

  test("points in time are read as ages, days and timestamps", () => {
    const now = Date.UTC(2026, 5, 1);
    expect(parseMoment("to", "30m", now)).toBe(now - 30 * 60_000);
    expect(parseMoment("to", "2h ago", now)).toBe(now - 2 * 3_600_000);
    expect(parseMoment("to", "2026-01-02T03:04:05Z", now)).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
    expect(parseMoment("to", "2026-01-02", now)).toBe(new Date(2026, 0, 2).getTime());
    for (const text of ["", "h", "30", "2026-13-01", "2026-02-30", "2026-02-30T12:00", "soon"])
      expect(() => parseMoment("to", text, now)).toThrow("--to is");
  });
});
