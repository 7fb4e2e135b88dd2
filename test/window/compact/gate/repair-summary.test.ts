import { describe, expect, test } from "vitest";
import { extractSummary } from "../../../../src/window/compact/extractive/extract-summary.ts";
import { judgeSummary, repairSummary } from "../../../../src/window/compact/gate/judge-summary.ts";
import { describeVerdict } from "../../../../src/window/compact/gate/summary-verdict.ts";
import { cart, queue } from "../conversations.ts";
import { BAD } from "./bad-summaries.ts";

const repairable = BAD.map((bad) => ({
  ...bad,
  verdict: judgeSummary({ source: bad.source, summary: bad.text }),
}));

describe("an incomplete summary", () => {
  test.each(repairable.filter(({ verdict }) => verdict.isRepairable))(
    "an incomplete summary passes once the missing part is added: $name",
    ({ source, text, verdict }) => {
      const repaired = repairSummary(text, verdict.missing);
      expect(repaired.startsWith(text.trimEnd())).toBe(true);
      expect(judgeSummary({ source, summary: repaired }).failures).toEqual([]);
    },
  );

  test("an incomplete summary can be repaired when only sections, identifiers or requests are missing", () => {
    const faults = new Set(
      repairable.filter(({ verdict }) => verdict.isRepairable).map(({ fault }) => fault),
    );
    expect([...faults].sort()).toEqual(["missing-ask", "missing-identifier", "missing-section"]);
  });

  test.each(repairable.filter(({ verdict }) => !verdict.isRepairable))(
    "a summary with another fault stays rejected, whatever is added: $name",
    ({ source, text, verdict }) => {
      const repaired = repairSummary(text, verdict.missing);
      const isHollow = verdict.missing.sections.length > 6;
      if (!isHollow) expect(judgeSummary({ source, summary: repaired }).ok).toBe(false);
      expect(verdict.isRepairable).toBe(false);
    },
  );

  test("an incomplete summary gets its missing sections from another summary", () => {
    const { sections, text } = extractSummary(queue, { maxTokens: 900 });
    const lacking = text.replace(/## Constraints\n[\s\S]*?(?=\n## )\n/, "");
    const { missing } = judgeSummary({ source: queue, summary: lacking });
    expect(missing.sections).toEqual(["constraints"]);
    expect(repairSummary(lacking, missing, sections)).toContain("never restart postfix");
  });
});

describe("a verdict", () => {
  test("a verdict names each fault in words", () => {
    const verdict = judgeSummary({ source: cart, summary: "src/made/up.ts" });
    expect(describeVerdict(verdict)).toContain("invented-file: src/made/up.ts");
  });

  test("a verdict allows files that an earlier summary named, and requires the requests that it left open", () => {
    const previous =
      '## Pending User Asks\n- "Rename the basket to cart everywhere"\n## Relevant Files and Code\n- src/old/basket.ts';
    const text = extractSummary(cart, { maxTokens: 900 }).text;
    const verdict = judgeSummary({ source: cart, summary: `${text}\nsrc/old/basket.ts`, previous });
    expect(verdict.missing.asks).toEqual(["Rename the basket to cart everywhere"]);
    expect(verdict.failures.map(({ fault }) => fault)).not.toContain("invented-file");
  });

  test("a verdict respects another size limit and other sections", () => {
    const text = extractSummary(cart, { maxTokens: 900 }).text;
    const small = judgeSummary({ source: cart, summary: text, options: { mostShare: 0.01 } });
    expect(small.failures.map(({ fault }) => fault)).toContain("grew");
    const free = judgeSummary({ source: cart, summary: "Notes.", options: { sections: [] } });
    expect(free.missing.sections).toEqual([]);
  });
});
