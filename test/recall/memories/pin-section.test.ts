import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderPinSection } from "../../../src/recall/memories/pin-section.ts";
import type { StoredMemory } from "../../../src/recall/memories/stored-memory.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { INJECTIONS } from "../../window/compact/extractive/injections.ts";
import { hostileText } from "../retrieval/hostile-text.ts";

const pin = (text: string, by: StoredMemory["by"] = "user"): StoredMemory => ({
  id: "memory:a#1",
  at: 1,
  text,
  by,
  trust: by,
});

describe("the section of pins", () => {
  test("the section of pins is omitted without memories", () => {
    expect(renderPinSection([])).toBeUndefined();
    expect(renderPinSection([pin(" ")])).toBeUndefined();
  });

  test("the section of pins names the author of each memory, oldest first, with the same text each time", () => {
    const pins = [pin("Use tabs."), pin("db-3 is slow", "agent"), pin("回复用中文")];
    const section = renderPinSection(pins) ?? "";
    expect(section).toMatch(/^<memories mark="[0-9a-f]{12}">\nMemories, oldest first\. .*\n/);
    expect(section).toContain("\nuser| Use tabs.\nagent| db-3 is slow\nuser| 回复用中文\n</memories mark=");
    expect(renderPinSection(pins)).toBe(section);
  });

  test("the section of pins stays below a megabyte, and drops the oldest memories first", () => {
    const pins = Array.from({ length: 100 }, (_, index) => pin(`${index} ${"x\n".repeat(5_000)}`));
    const section = renderPinSection(pins) ?? "";
    expect(Buffer.byteLength(section)).toBeLessThan(1_000_000);
    expect(section).toContain("\nuser| 99 x\n");
    expect(section).not.toContain("\nuser| 0 x\n");
    expect(renderPinSection(pins, { maxBytes: 10 })).toBeUndefined();
  });

  sizedTest("the section of pins lets no memory escape it or pass for a memory of the user", () => {
    const texts = fc.array(fc.oneof(hostileText, fc.constantFrom(...INJECTIONS)), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(texts, (all) => {
        const section =
          renderPinSection(all.map((text) => pin(text, "agent"))) ?? "<memories>\nx\n</memories>";
        const lines = section.split("\n");
        expect(section.match(/<\s*\/?\s*memories/gi)).toHaveLength(2);
        for (const line of lines.slice(2, -1)) expect(line).toMatch(/^agent\|/);
      }),
      { numRuns: proofRounds(300) },
    );
  });
});
