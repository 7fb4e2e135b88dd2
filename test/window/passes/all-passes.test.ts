import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listAnsweredCallIds, listCallIds } from "../../../src/model/tool-calls.ts";
import { applyEdits } from "../../../src/window/apply-edits.ts";
import { applyProposals, type Pass, type PassContext, type Proposal } from "../../../src/window/pass.ts";
import { clearResults } from "../../../src/window/passes/clear-results.ts";
import { stubDuplicateReads } from "../../../src/window/passes/stub-duplicate-reads.ts";
import { stubStaleImages } from "../../../src/window/passes/stub-stale-images.ts";
import { limitHistory, truncateMessages } from "../../../src/window/passes/truncate-messages.ts";
import { pairResults } from "../../../src/window/placed-result.ts";
import { keepEnds, trimResults } from "../../../src/window/policies/known-policies.ts";
import { findProtectedSeqs } from "../../../src/window/protected-seqs.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { context, tokensOf, windows } from "./windows.ts";

const REPLACING: Readonly<Record<string, Pass>> = {
  "stale images": stubStaleImages({ maxBytes: 150, maxCount: 3 }),
  "duplicate reads": stubDuplicateReads,
  "clear results": clearResults({ keep: 1, excludeTools: ["Write"], clearInputs: true }),
  "trim results": trimResults({ longerThan: 300, head: 60, tail: 60 }),
};
/** Passes that leave work for the next time. */
const PARTIAL: Readonly<Record<string, Pass>> = {
  "clear some results": clearResults({ keep: 0, trigger: { calls: 1 }, clearAtLeast: 50, enough: 300 }),
};
const HIDING: Readonly<Record<string, Pass>> = {
  half: truncateMessages("half"),
  quarter: truncateMessages("quarter"),
  "half after the first message": truncateMessages("half", { head: "message", isForced: true }),
  "history limit": limitHistory(5),
  "keep ends": keepEnds(3),
};

const totalOf = (slots: readonly Slot[]) => slots.reduce((total, { tokens }) => total + tokens, 0);
const editsOf = (proposals: readonly Proposal[]) => proposals.map(({ edit }) => edit);

/** Calls and results without their counterpart, by place in the log. */
function orphansOf(slots: readonly Slot[], reusesIds: boolean): ReadonlySet<string> {
  if (reusesIds) {
    const answers = pairResults(slots);
    const answered = new Set(answers.flatMap(({ placedCall: to }) => (to ? [`${to.slot} ${to.part}`] : [])));
    const results = answers
      .filter(({ placedCall: to }) => !to)
      .map(({ slot, part }) => `${slots[slot]?.seq} ${part}`);
    const calls = slots.flatMap(({ seq, message }, index) =>
      message.parts.flatMap((part, place) =>
        part.type === "tool-call" && !answered.has(`${index} ${place}`) ? [`${seq} ${place}`] : [],
      ),
    );
    return new Set([...results, ...calls]);
  }
  const calls = new Set(slots.flatMap(({ message }) => listCallIds(message)));
  const results = new Set(slots.flatMap(({ message }) => listAnsweredCallIds(message)));
  const isOrphan = (callId: string) => calls.has(callId) !== results.has(callId);
  return new Set([...calls, ...results].filter(isOrphan));
}

describe.each(Object.entries({ ...REPLACING, ...PARTIAL, ...HIDING }))("%s", (_name, pass) => {
  sizedTest(
    "any subset of the proposed edits keeps calls with their results, spares protected messages and frees the stated tokens, in 400 random windows",
    () => {
      fc.assert(
        fc.property(windows, fc.infiniteStream(fc.boolean()), ({ slots, reusesIds, pins }, coins) => {
          const told: PassContext = { ...context, pins };
          const chosen = pass(slots, told).filter(() => coins.next().value);
          const after = applyEdits(slots, editsOf(chosen), tokensOf);
          expect(applyProposals(slots, chosen, tokensOf)).toEqual(after);
          const before = orphansOf(slots, reusesIds);
          for (const orphan of orphansOf(after, reusesIds)) expect(before).toContain(orphan);
          const kept = findProtectedSeqs(slots, pins);
          const isSpared = ({ seq, isNote, message }: Slot) =>
            kept.has(seq) || isNote || message.role === "system";
          for (const slot of slots.filter(({ seq }) => kept.has(seq))) expect(after).toContain(slot);
          for (const slot of slots.filter(({ isNote }) => isNote)) expect(after).toContain(slot);
          expect(after.filter(isSpared)).toHaveLength(slots.filter(isSpared).length);
          expect(totalOf(slots) - totalOf(after)).toBe(
            chosen.reduce((total, { freedTokens }) => total + freedTokens, 0),
          );
          const reasoningOf = (window: readonly Slot[]) =>
            window.flatMap(({ message }) => message.parts.filter(({ type }) => type === "reasoning"));
          for (const reasoning of reasoningOf(after)) expect(reasoningOf(slots)).toContain(reasoning);
        }),
        { numRuns: proofRounds(400) },
      );
    },
  );
});

describe.each(Object.entries(REPLACING))("%s", (_name, pass) => {
  sizedTest("a pass proposes nothing more once all its proposals are applied, in 400 random windows", () => {
    fc.assert(
      fc.property(windows, ({ slots, pins }) => {
        const told: PassContext = { ...context, pins };
        const after = applyEdits(slots, editsOf(pass(slots, told)), tokensOf);
        expect(pass(after, told)).toEqual([]);
      }),
      { numRuns: proofRounds(400) },
    );
  });
});

describe.each(Object.entries(HIDING))("%s", (_name, pass) => {
  test("a pass that hides slots hides each slot once", () => {
    fc.assert(
      fc.property(windows, ({ slots }) => {
        const first = pass(slots, context);
        const after = applyEdits(slots, editsOf(first), tokensOf);
        for (const { freedTokens } of first) expect(totalOf(slots) - totalOf(after)).toBe(freedTokens);
        const again = applyEdits(after, editsOf(first), tokensOf);
        expect(again).toEqual(after);
      }),
    );
  });
});

test("the random windows give every pass something to do", () => {
  const passes = Object.values({ ...REPLACING, ...PARTIAL, ...HIDING });
  const samples = fc.sample(windows, { numRuns: 500, seed: 1 });
  for (const pass of passes) {
    const busy = samples.filter(({ slots }) => pass(slots, context).length > 0);
    expect(busy.length).toBeGreaterThan(25);
  }
});
