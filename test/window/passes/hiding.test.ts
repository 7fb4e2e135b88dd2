import { describe, expect, test } from "vitest";
import { applyProposals, type Pass } from "../../../src/window/pass.ts";
import {
  getHistoryLimits,
  limitHistory,
  truncateMessages,
} from "../../../src/window/passes/truncate-messages.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { context, say, textsOf, tokensOf, windowOf } from "./windows.ts";

const applied = (pass: Pass, slots: readonly Slot[]) => applyProposals(slots, pass(slots, context), tokensOf);

describe("truncate", () => {
  const turns = (count: number) =>
    windowOf(
      ...Array.from({ length: count }, (_, index) => say(index % 2 === 0 ? "user" : "assistant", `${index}`)),
    );
  const left = (slots: readonly Slot[], pass: Pass) => applied(pass, slots).map(textsOf);

  test("truncate hides half or three quarters of what follows the first exchange, in pairs", () => {
    expect(left(turns(10), truncateMessages("half"))).toEqual(["0", "1", "6", "7", "8", "9"]);
    expect(left(turns(10), truncateMessages("quarter"))).toEqual(["0", "1", "8", "9"]);
    expect(left(turns(5), truncateMessages("half"))).toHaveLength(5);
  });
});

describe("history limits", () => {
  test("history limits grow with the window", () => {
    const sizes = [8_000, 16_000, 32_768, 64_000, 65_536, 100_000, 128_000, 131_072, 200_000, 1_000_000];
    const limits = sizes.map(getHistoryLimits);
    expect(limits.map(({ messages }) => messages)).toEqual([20, 50, 50, 50, 50, 100, 100, 100, 200, 200]);
    const never = Number.POSITIVE_INFINITY;
    expect(limits.map(({ turns }) => turns)).toEqual([10, 30, 30, 30, 30, 50, 50, 50, never, never]);
  });

  test("history limits hide the oldest exchanges and keep the first message of the user", () => {
    const slots = windowOf(
      say("system", "rules"),
      ...Array.from({ length: 30 }, (_, index) => say(index % 2 === 0 ? "user" : "assistant", `${index}`)),
    );
    const left = applied(limitHistory(10), slots).map(textsOf);
    expect(left).toHaveLength(9);
    expect(left.slice(0, 3)).toEqual(["rules", "0", "1"]);
    expect(left.at(-1)).toBe("29");
  });
});
