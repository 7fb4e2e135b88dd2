import fc from "fast-check";
import { expect } from "vitest";
import type { Message } from "../../../src/kernel/index.ts";
import { applyEdits } from "../../../src/window/apply-edits.ts";
import { findHiddenStretches } from "../../../src/window/session/place-edit.ts";
import { computeEdits } from "../../../src/window/session/store-plan.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";

const words = (text: string, role: Message["role"] = "user"): Message => ({
  role,
  parts: [{ type: "text", text }],
});
const tokensOf = ({ parts }: Message) => JSON.stringify(parts).length;
const slot = (seq: number, message: Message): Slot => ({ seq, at: seq, message, tokens: tokensOf(message) });

/** A random window of a log: messages kept, dropped or changed, notes anywhere. */
const windows = fc
  .array(
    fc.record({
      fate: fc.constantFrom("keep", "drop", "change", "retell"),
      notes: fc.nat(2),
      skip: fc.nat(2),
    }),
    { maxLength: 20 },
  )
  .map((fates) => {
    const said: Slot[] = [];
    const window: Slot[] = [];
    let seq = 0;
    for (const { fate, notes, skip } of fates) {
      seq += 1 + skip;
      const original = slot(seq, words(`said at ${seq}`, "tool"));
      said.push(original);
      for (let at = 0; at < notes; at++)
        window.push({ ...slot(seq, words(`note ${at} before ${seq}`)), isNote: true });
      if (fate === "keep") window.push(original);
      const message = words(`changed at ${seq}`, fate === "retell" ? "user" : "tool");
      if (fate === "change" || fate === "retell")
        window.push({ ...original, message, original: original.message, tokens: tokensOf(message) });
    }
    return { said, window, line: { from: 1, to: seq + 1 } };
  });

sizedTest("the edits computed from a window make the same window from the log", () => {
  fc.assert(
    fc.property(windows, ({ said, window, line }) => {
      const made = applyEdits(said, computeEdits(window, line), tokensOf);
      expect(made.map(({ message }) => message)).toEqual(window.map(({ message }) => message));
      expect(made.map(({ isNote = false }) => isNote)).toEqual(window.map(({ isNote = false }) => isNote));
    }),
    { numRuns: proofRounds(2_000) },
  );
});

sizedTest("hidden entries need not be read to make the same window", () => {
  fc.assert(
    fc.property(windows, ({ said, window, line }) => {
      const edits = computeEdits(window, line);
      const hidden = findHiddenStretches(edits);
      const read = said.filter(({ seq }) => !hidden.some(({ from, to }) => from <= seq && seq <= to));
      const made = applyEdits(read, edits, tokensOf);
      expect(made.map(({ message }) => message)).toEqual(window.map(({ message }) => message));
    }),
    { numRuns: proofRounds(1_000) },
  );
});
