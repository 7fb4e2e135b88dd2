import { describe, expect, test } from "vitest";
import { findRemovedNames } from "../../../src/window/session/find-removed-names.ts";
import type { Slot } from "../../../src/window/slot.ts";

const says = (seq: number, text: string): Slot => ({
  seq,
  at: seq,
  message: { role: "user", parts: [{ type: "text", text }] },
  tokens: 1,
});

const names = Array.from({ length: 200 }, (_, index) => `handle_part_${1000 + index}`);

describe("the names that leave a window", () => {
  test("the names that leave a window are all counted, and the most frequent are listed", () => {
    const before = [says(1, names.join(" ")), says(2, "handle_part_1150 again"), says(3, "Go on.")];
    const left = findRemovedNames(before, before.slice(2));
    expect(left.identifiers).toBe(200);
    expect(left.named).toHaveLength(50);
    expect(left.named[0]).toBe("handle_part_1150");
  });

  test("a name has not left a window if another message holds it, even inside a path", () => {
    const before = [says(1, names.join(" ")), says(2, `see src/handle_part_1001.ts and ${names[150]}`)];
    const left = findRemovedNames(before, before.slice(1));
    expect(left.identifiers).toBe(198);
    expect(left.named).not.toContain("handle_part_1001");
  });
});
