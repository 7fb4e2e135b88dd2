import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answeredBy, callsOf, groupsOf } from "../../../src/window/group.ts";
import { POLICIES } from "../../../src/window/policies/index.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { histories, slotsOf, windowsOf } from "./histories.ts";

const budgets = fc
  .record({
    window: fc.integer({ min: 2_500, max: 20_000 }),
    reserved: fc.double({ min: 0, max: 0.3, noNaN: true }),
  })
  .map(({ window, reserved }) => ({ window, tokens: Math.floor(window * (1 - reserved)), system: 100 }));

const sizeOf = (window: readonly Slot[]) => window.reduce((sum, { tokens }) => sum + tokens, 0);

/** Ids of calls without a result and of results without a call. */
function lonely(window: readonly Slot[]): ReadonlySet<string> {
  const calls = new Set(window.flatMap(({ message }) => callsOf(message)));
  const answered = new Set(window.flatMap(({ message }) => answeredBy(message)));
  return new Set([...calls, ...answered].filter((callId) => calls.has(callId) !== answered.has(callId)));
}

test("longhaul is the first of the policies, and no two have the same name", () => {
  expect(POLICIES[0]?.name).toBe("longhaul");
  expect(new Set(POLICIES.map(({ name }) => name)).size).toBe(POLICIES.length);
});

describe.each(POLICIES)("$name", (policy) => {
  const check = (
    holds: (windows: readonly (readonly Slot[])[], slots: readonly Slot[], most: number) => void,
  ) =>
    fc.assert(
      fc.property(histories, budgets, (messages, budget) => {
        const slots = slotsOf(messages, estimateMessage);
        holds(windowsOf(policy, slots, budget, estimateMessage), slots, budget.tokens - budget.system);
      }),
      { numRuns: 150 },
    );

  test.skipIf(policy.name === "none")("never sends more than the budget holds", () => {
    check((windows, _, most) => {
      for (const window of windows) expect(sizeOf(window)).toBeLessThanOrEqual(most);
    });
  });

  test("counts what it sends", () => {
    check((windows) => {
      for (const slot of windows.at(-1) ?? []) expect(slot.tokens).toBe(estimateMessage(slot.message));
    });
  });

  test("parts no call from its result", () => {
    check((windows, slots) => {
      for (const [index, window] of windows.entries()) {
        const before = lonely(slots.slice(0, index + 1));
        expect([...lonely(window)].filter((callId) => !before.has(callId))).toEqual([]);
      }
    });
  });

  test("keeps the first message of the user and the last group, each once and in order", () => {
    check((windows, slots) => {
      for (const [index, window] of windows.entries()) {
        const said = slots.slice(0, index + 1);
        const seqs = window.filter(({ isNote }) => !isNote).map(({ seq }) => seq);
        expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
        const first = said.find(({ message }) => message.role === "user");
        if (first) expect(seqs).toContain(first.seq);
        const last = groupsOf(said).at(-1);
        for (const { seq } of said.slice(last?.from ?? 0)) expect(seqs).toContain(seq);
      }
    });
  });

  test("decides the same again, and without knowing what comes", () => {
    fc.assert(
      fc.property(histories, budgets, fc.nat(), (messages, budget, cut) => {
        const slots = slotsOf(messages, estimateMessage);
        const length = cut % (slots.length + 1);
        const windows = windowsOf(policy, slots, budget, estimateMessage);
        const shorter = windowsOf(policy, slots.slice(0, length), budget, estimateMessage);
        expect(shorter).toEqual(windows.slice(0, length));
      }),
      { numRuns: 100 },
    );
  });

  test.skipIf(policy.name === "longhaul")("never brings back what has left, nor changes it back", () => {
    check((windows) => {
      for (const [index, window] of windows.entries()) {
        const before = new Map(windows[index - 1]?.map((slot) => [slot.seq, slot]));
        const newest = Math.max(0, ...before.keys());
        for (const slot of window) {
          const known = before.get(slot.seq);
          if (slot.seq <= newest) expect(known).toBeDefined();
          if (known && known !== slot) expect(slot.tokens).toBeLessThan(known.tokens);
        }
      }
    });
  });

  test("leaves a window as it was handed out when more is said", () => {
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
});
