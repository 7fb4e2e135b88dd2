import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffWindows, type Slot } from "../../src/kernel/faces/window.ts";
import { textOfMessage } from "../../src/kernel/index.ts";
import { testKernel } from "../support/kernel.ts";

const slot = (seq: number, text = `message ${seq}`, more: Partial<Slot> = {}): Slot => ({
  seq,
  at: seq,
  tokens: 1,
  message: { role: "user", parts: [{ type: "text", text }] },
  ...more,
});
const note = (seq: number, text: string) => slot(seq, text, { isNote: true });
const show = (before: readonly Slot[], after: readonly Slot[]) =>
  diffWindows(before, after).map(({ type, place, before: old, after: fresh }) => {
    const message = fresh ?? old;
    return `${type} ${place}: ${message ? textOfMessage(message) : ""}`;
  });

describe("the diff of two windows", () => {
  test("the diff of two windows says for each message, in order, whether it stays, leaves, changes or comes", () => {
    const before = [1, 2, 3, 4, 5, 6].map((seq) => slot(seq));
    const after = [slot(1), note(2, "summary"), slot(4, "stub"), slot(6)];
    expect(show(before, after)).toEqual([
      "stays #1: message 1",
      "leaves #2: message 2",
      "leaves #3: message 3",
      "comes note at #2: summary",
      "changes #4: stub",
      "leaves #5: message 5",
      "stays #6: message 6",
    ]);
  });

  test("the diff of two windows shows a summary that replaces another one, and cites entries of other sessions", () => {
    const before = [note(1, "old summary"), slot(5), slot(6, "six", { cite: "trunk#3" })];
    const after = [note(1, "new summary"), slot(6, "six", { cite: "trunk#3" })];
    expect(show(before, after)).toEqual([
      "leaves note at #1: old summary",
      "leaves #5: message 5",
      "comes note at #1: new summary",
      "stays trunk#3: six",
    ]);
  });

  test("the diff of two windows names every message of both windows exactly once", () => {
    const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 20 });
    fc.assert(
      fc.property(seqs, seqs, fc.array(fc.nat(40), { maxLength: 3 }), (first, second, notes) => {
        const sorted = (all: readonly Slot[]) => all.toSorted((a, b) => a.seq - b.seq);
        const before = sorted(first.map((seq) => slot(seq)));
        const own = second.map((seq) => slot(seq, seq % 3 === 0 ? "stub" : undefined));
        const after = sorted([...notes.map((seq, index) => note(seq, `note ${index}`)), ...own]);
        const changes = diffWindows(before, after);
        expect(changes.flatMap(({ after: message }) => message ?? [])).toEqual(
          after.map(({ message }) => message),
        );
        const olds = changes.flatMap(({ before: message }) => (message ? [textOfMessage(message)] : []));
        expect(olds.sort()).toEqual(before.map(({ message }) => textOfMessage(message)).sort());
      }),
    );
  });

  test("the diff of two windows shows what a dry run would do, and leaves the window unchanged", async () => {
    const kernel = await testKernel();
    const session = await kernel.session();
    for (let turn = 0; turn < 40; turn++) {
      await session.append({ role: "user", text: `question ${turn} ${"word ".repeat(200)}` });
      await session.append({ role: "assistant", text: `answer ${turn} ${"word ".repeat(200)}` });
    }
    const window = session.window({ model: "gpt-4o", models: { "*": { window: 12_000 } } });
    const now = await window.look();
    const next = await window.fit({ dryRun: true });
    const changes = diffWindows(now.slots, next.slots);
    expect(changes.some(({ type }) => type === "leaves" || type === "changes")).toBe(true);
    expect(changes.flatMap(({ after }) => after ?? [])).toEqual(next.slots.map(({ message }) => message));
    expect((await window.look()).slots).toHaveLength(now.slots.length);
  });
});
