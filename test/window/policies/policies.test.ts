import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POLICIES } from "../../../src/window/policies/known-policies.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { charactersAsTokens, fitAll, histories, says, slotsOf, windowsOf } from "./histories.ts";

const RUNS = { numRuns: proofRounds(50) };
const anyLimits = fc
  .record({
    window: fc.integer({ min: 2_500, max: 20_000 }),
    reserved: fc.double({ min: 0, max: 0.3, noNaN: true }),
  })
  .map(({ window, reserved }) => ({ window, tokens: Math.floor(window * (1 - reserved)), system: 100 }));

test("longhaul is the first policy, and all names differ", () => {
  expect(POLICIES[0]?.name).toBe("longhaul");
  expect(new Set(POLICIES.map(({ name }) => name)).size).toBe(POLICIES.length);
});

describe.each(POLICIES)("$name", (policy) => {
  sizedTest("a policy makes the same decisions again, whatever messages follow", () => {
    fc.assert(
      fc.property(histories, anyLimits, fc.nat(), (messages, limits, cut) => {
        const slots = slotsOf(messages);
        const length = cut % (slots.length + 1);
        const windows = windowsOf(policy, slots, limits, charactersAsTokens);
        const shorter = windowsOf(policy, slots.slice(0, length), limits, charactersAsTokens);
        expect(shorter).toEqual(windows.slice(0, length));
      }),
      RUNS,
    );
  });

  sizedTest.skipIf(policy.name === "longhaul")(
    "a policy continues the same from the window that was sent last",
    () => {
      fc.assert(
        fc.property(histories, anyLimits, fc.nat(), (messages, limits, cut) => {
          const slots = slotsOf(messages);
          const length = cut % (slots.length + 1);
          const windows = windowsOf(policy, slots, limits, charactersAsTokens);
          const window = windows[length - 1] ?? [];
          const run = policy.start(limits, charactersAsTokens, { window });
          for (const [index, slot] of slots.slice(length).entries())
            expect(fitAll(run, [slot], (length + index) % 3 !== 0)).toEqual(windows[length + index]);
        }),
        RUNS,
      );
    },
  );

  sizedTest.skipIf(policy.name === "longhaul")(
    "a policy never brings back a message that left, nor makes a clipped message longer",
    () => {
      fc.assert(
        fc.property(histories, anyLimits, (messages, limits) => {
          const windows = windowsOf(policy, slotsOf(messages), limits, charactersAsTokens);
          for (const [index, window] of windows.entries()) {
            const before = new Map(windows[index - 1]?.map((slot) => [slot.seq, slot]));
            const newest = Math.max(0, ...before.keys());
            for (const slot of window) {
              const known = before.get(slot.seq);
              if (slot.seq <= newest) expect(known).toBeDefined();
              if (known && known !== slot) expect(slot.tokens).toBeLessThan(known.tokens);
            }
          }
        }),
        RUNS,
      );
    },
  );

  test("a policy does not change a returned window when more messages arrive", () => {
    const [first, second] = slotsOf([
      { role: "user", parts: [{ type: "text", text: "one" }] },
      { role: "assistant", parts: [{ type: "text", text: "two" }] },
    ]) as [Slot, Slot];
    const run = policy.start({ tokens: 1_000, window: 1_000, system: 0 }, estimateMessage);
    run.observe(first);
    const window = run.fit({ isHot: true });
    run.observe(second);
    expect(window).toEqual([first]);
  });

  test("a policy keeps pinned messages", () => {
    const talk = Array.from({ length: 60 }, (_, index) => says(index % 2 === 0 ? "user" : "assistant", 100));
    const slots = slotsOf(talk.with(10, says("user", 300)));
    const run = policy.start({ tokens: 2_000, window: 2_200, system: 0 }, charactersAsTokens, {
      pins: new Set([11]),
    });
    expect(fitAll(run, slots)).toContain(slots[10]);
    expect(fitAll(run, slotsOf([...talk, ...talk]).slice(60))).toContain(slots[10]);
  });
});
