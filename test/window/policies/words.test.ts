import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { buildPageMessage } from "../../../src/window/paging/page-note.ts";
import { longhaul } from "../../../src/window/policies/longhaul.ts";
import { type Slot, sumSlotTokens } from "../../../src/window/slot.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { charactersAsTokens, fitAll, reads, says, slotsOf } from "./histories.ts";

const turn = fc.record({
  asked: fc.integer({ min: 10, max: 400 }),
  answered: fc.integer({ min: 10, max: 400 }),
  outputs: fc.array(fc.integer({ min: 10, max: 3_000 }), { maxLength: 4 }),
  hasWordsBesideCall: fc.boolean(),
});

type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;

/** A sentence of about so many characters that no other message holds. */
function sentence(name: string, characters: number): string {
  return `${name} ${"word ".repeat(characters / 5)}end of ${name}.`;
}

function messagesOf(
  { asked, answered, outputs, hasWordsBesideCall }: Turn,
  index: number,
): readonly Message[] {
  const work = outputs.flatMap((characters, at): readonly Message[] => {
    const callId = `call-${index}-${at}`;
    const call = { type: "tool-call", callId, name: "run", input: { command: `make ${index}` } } as const;
    const words = { type: "text", text: sentence(`remark-${index}-${at}`, 20) } as const;
    return [
      { role: "assistant", parts: hasWordsBesideCall ? [words, call] : [call] },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId, output: [{ type: "text", text: "y".repeat(characters) }] }],
      },
    ];
  });
  return [
    { role: "user", parts: [{ type: "text", text: sentence(`question-${index}`, asked) }] },
    ...work,
    { role: "assistant", parts: [{ type: "text", text: sentence(`answer-${index}`, answered) }] },
  ];
}

function wordsOf(slots: readonly Slot[]): readonly string[] {
  return slots.flatMap(({ message }) =>
    message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
}

sizedTest("every sentence stays in the window as long as the conversation fits", () => {
  let rebuilds = 0;
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 4, maxLength: 30 }),
      fc.integer({ min: 4_000, max: 40_000 }),
      fc.infiniteStream(fc.boolean()),
      (turns, tokens, hot) => {
        const run = longhaul().start({ system: 0, tokens, window: tokens }, charactersAsTokens);
        const slots = slotsOf(turns.flatMap(messagesOf));
        let window: readonly Slot[] = [];
        for (const [index, slot] of slots.entries()) {
          run.observe(slot);
          window = [...window, slot];
          if (slot.message.role === "assistant") continue;
          if (sumSlotTokens(window) > tokens) return;
          window = run.fit({ isHot: hot.next().value });
          if (run.reason !== undefined) rebuilds++;
          const shown = wordsOf(window).join("\n");
          for (const words of wordsOf(slots.slice(0, index + 1))) expect(shown).toContain(words);
        }
      },
    ),
    { numRuns: proofRounds(300) },
  );
  expect(rebuilds).toBeGreaterThan(10);
});

test("an extract does not quote a page, because the page only cites other messages", () => {
  const limits = { system: 0, tokens: 6_000, window: 6_000 };
  const fact = "The heron database listens on port 50432 in /srv/heron/config.yaml";
  const message = buildPageMessage([{ cite: "#2", author: "assistant", at: 0, text: fact }]);
  const page: Slot = { seq: 1.5, at: 1, message, tokens: charactersAsTokens(message), isNote: true };
  const work = slotsOf([says("user", 100), ...reads("1", "a.ts", 3_000), ...reads("2", "b.ts", 3_000)]);
  const later = slotsOf([says("user", 200), ...reads("3", "c.ts", 3_000)]).map((slot) => ({
    ...slot,
    seq: slot.seq + 10,
  }));
  const run = longhaul({ shrink: false }).start(limits, charactersAsTokens);
  fitAll(run, work.slice(0, 1));
  run.observe(page);
  for (const reopened of [
    run,
    longhaul({ shrink: false }).start(limits, charactersAsTokens, { window: [...work.slice(0, 1), page] }),
  ]) {
    const window = fitAll(reopened, [...work.slice(1), ...later]);
    expect(wordsOf(window).join("\n")).not.toContain("50432");
  }
});
