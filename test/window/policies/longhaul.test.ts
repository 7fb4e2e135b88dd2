import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { flattenParts } from "../../../src/model/message.ts";
import { listAnsweredCallIds, listCallIds } from "../../../src/model/tool-calls.ts";
import { computeHighMark, isColdRebuildDue } from "../../../src/window/policies/longhaul/rebuild-marks.ts";
import { longhaul } from "../../../src/window/policies/longhaul.ts";
import type { Course } from "../../../src/window/policy.ts";
import { findProtectedSeqs } from "../../../src/window/protected-seqs.ts";
import type { Slot } from "../../../src/window/slot.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { proofRounds, sizedTest } from "../../support/proof.ts";
import { fitAll, histories, says, slotsOf } from "./histories.ts";

const limits = { tokens: 40_000, window: 40_000, system: 1_000 };
const policy = longhaul();
const start = (course: Course = {}, own = limits) => policy.start(own, estimateMessage, course);

const textOf = (slot: Slot | undefined) =>
  (slot ? flattenParts(slot.message) : []).map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** A user's task and `steps` steps that read a file of about 1,000 tokens each. */
function work(steps: number, copies = 1): readonly Message[] {
  const read = (step: number): readonly Message[] => [
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: `thinking about part_${step}`, opaque: "sealed" },
        { type: "tool-call", callId: `${step}`, name: "read", input: { path: `src/part_${step}.ts` } },
      ],
    },
    {
      role: "tool",
      parts: [
        {
          type: "tool-result",
          callId: `${step}`,
          output: [{ type: "text", text: `${code(step)}\n`.repeat(copies) }],
        },
      ],
    },
  ];
  return [says("user", 200), ...Array.from({ length: steps }, (_, step) => read(step)).flat()];
}

function code(step: number): string {
  return Array.from(
    { length: 60 },
    (_, line) => `export const value_${step}_${line} = compute(${line});`,
  ).join("\n");
}

/** Adds counterparts, because calls and results stay together and share their space. */
function withTied(kept: readonly Slot[], said: readonly Slot[]): readonly Slot[] {
  const idsOf = ({ message }: Slot) => [...listCallIds(message), ...listAnsweredCallIds(message)];
  const ids = new Set(kept.flatMap(idsOf));
  return said.filter((slot) => kept.includes(slot) || idsOf(slot).some((id) => ids.has(id)));
}

const sizeOf = (slots: readonly Slot[]) => slots.reduce((sum, { tokens }) => sum + tokens, 0);

describe("protected messages", () => {
  sizedTest("edits leave protected messages unchanged whenever they fit", () => {
    fc.assert(
      fc.property(
        histories,
        fc.integer({ min: 3_000, max: 20_000 }),
        fc.boolean(),
        (messages, tokens, isHot) => {
          const run = start({ shrinkFilters: new Set() }, { tokens, window: tokens, system: 100 });
          const said: Slot[] = [];
          for (const slot of slotsOf(messages, estimateMessage)) {
            said.push(slot);
            run.observe(slot);
            const sent = run.fit({ isHot });
            const calls = new Set(sent.flatMap(({ message }) => listCallIds(message)));
            const window = new Map(sent.map((shown) => [shown.isNote ? -1 : shown.seq, shown]));
            const kept = said.filter(({ seq }) => findProtectedSeqs(said).has(seq));
            // Content that was clipped stays clipped until the next rebuild.
            if (sizeOf(withTied(kept, said)) > tokens - 100) return;
            for (const { seq, message } of kept) {
              // A result whose call left while it was still open can only be sent as text.
              if (listAnsweredCallIds(message).some((callId) => !calls.has(callId))) continue;
              expect(window.get(seq)?.message).toEqual(message);
            }
          }
        },
      ),
      { numRuns: proofRounds(60) },
    );
  });

  test("protected messages are clipped if they do not fit, except the newest question, the latest reply and pins", () => {
    const slots = slotsOf(
      [says("user", 200_000), says("user", 20_000), says("assistant", 200), says("user", 30_000)],
      estimateMessage,
    );
    const window = fitAll(start({ pins: new Set([2]) }), slots);
    for (const seq of [2, 3, 4])
      expect(window.find((slot) => slot.seq === seq)?.message).toBe(slots[seq - 1]?.message);
    expect(window.find(({ seq }) => seq === 1)?.tokens).toBeLessThan(slots[0]?.tokens ?? 0);
    expect(sizeOf(window)).toBeLessThanOrEqual(39_000);
  });

  test("a pinned message stays together with its call", () => {
    const slots = slotsOf(work(90), estimateMessage);
    const pins = new Set([7]);
    const window = fitAll(start({ pins }), slots);
    expect(window.find(({ seq }) => seq === 7)).toBe(slots[6]);
    expect(window.find(({ seq }) => seq === 6)).toBe(slots[5]);
    expect(window.find(({ seq }) => seq === 9)).toBeUndefined();
  });
});

sizedTest("reasoning is sent unchanged, byte by byte, or not at all", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2_500, max: 30_000 }), (steps, tokens) => {
      const slots = slotsOf(work(steps), estimateMessage);
      const window = fitAll(start({}, { tokens, window: tokens, system: 500 }), slots);
      for (const { seq, message } of window)
        for (const part of message.parts)
          if (part.type === "reasoning") expect(slots[seq - 1]?.message.parts).toContain(part);
      const notes = window.filter(({ isNote }) => isNote);
      for (const note of notes) expect(textOf(note)).not.toContain("thinking about");
    }),
    { numRuns: proofRounds(40) },
  );
});

describe("an extract", () => {
  test("extracts cite their entries, and only one of them says how to expand an entry", () => {
    const slots = slotsOf(work(60), estimateMessage).map((slot) =>
      slot.seq < 20 ? { ...slot, cite: `earlier#${slot.seq}` } : slot,
    );
    const notes = fitAll(start({ pins: new Set([60, 80, 100]) }), slots)
      .filter(({ isNote }) => isNote)
      .map(textOf);
    expect(notes.length).toBeGreaterThan(1);
    expect(notes.filter((text) => /"expand (earlier)?#\d+" shows/.test(text))).toHaveLength(1);
    expect(notes.join("\n")).toMatch(/\[#\d\d+ read src\/part_\d+\.ts\]/);
    const early = notes.join("\n").match(/\[[^\]]*#(?:\d|1\d) [^\]]*\]/g) ?? [];
    for (const heading of early) expect(heading).toContain("earlier#");
  });
});

describe("the price of a rebuild", () => {
  const large = { tokens: 200_000, window: 200_000, system: 1_000 };

  test("a rebuilt window has a reason, and an unchanged window has none", () => {
    const slots = slotsOf(work(60), estimateMessage);
    const run = start();
    expect(fitAll(run, slots.slice(0, 3))).toHaveLength(3);
    expect(run.reason).toBeUndefined();
    fitAll(run, slots.slice(3));
    expect(run.reason).toBe("over the limit");
    run.fit({ isHot: true });
    expect(run.reason).toBeUndefined();

    const cold = start({}, large);
    fitAll(cold, slots, false);
    expect(cold.reason).toBe("the cache is cold");
  });

  test("a rebuild waits while it needs more calls to pay off than are expected", () => {
    const young = start({}, large);
    fitAll(young, slotsOf(work(2, 60), estimateMessage));
    expect(young.reason).toBeUndefined();
    const old = start({}, large);
    fitAll(old, slotsOf(work(200), estimateMessage));
    expect(old.reason).toMatch(/^pays after \d+ calls, 201 expected$/);
  });

  test("a window may grow further where the cache saves more, and is never edited on each turn", () => {
    const grows = (read: number, write: number) => computeHighMark(48_000, 1_000, { read, write }) - 48_000;
    expect(grows(0.1, 1.25)).toBeCloseTo(4.8 * Math.sqrt(48_000 * 1_000), -3);
    expect(grows(0.25, 1)).toBeLessThan(grows(0.1, 1.25));
    expect(grows(1, 1)).toBeGreaterThan(5_000);
    expect(grows(0, 1)).toBe(Number.POSITIVE_INFINITY);
  });
});

sizedTest("a limit on the number of messages is kept like the one on tokens", () => {
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 40 }), fc.integer({ min: 1, max: 80 }), (messages, steps) => {
      const run = start({}, { ...limits, tokens: 100_000, window: 100_000, messages } as typeof limits);
      for (const slot of slotsOf(work(steps), estimateMessage)) {
        run.observe(slot);
        expect(run.fit({ isHot: true }).length).toBeLessThanOrEqual(messages);
      }
    }),
    { numRuns: proofRounds(40) },
  );
});

describe("the reasoning of finished replies", () => {
  const reply: Message = {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "weighing both ways ".repeat(80), opaque: "sealed" },
      { type: "text", text: "The parser is the cause." },
    ],
  };
  const messages = [...work(12), reply, says("user", 100), ...work(12).slice(1), reply];

  test("the reasoning of finished replies leaves with a rebuild, while their text stays and the latest reply keeps its reasoning", () => {
    const run = start({}, { tokens: 200_000, window: 200_000, system: 1_000 });
    const slots = slotsOf(messages, estimateMessage);
    const whole = fitAll(run, slots.slice(0, 24), true);
    expect(whole.every(({ original }) => original === undefined)).toBe(true);
    const window = fitAll(run, slots.slice(24), false);
    expect(run.reason).toBe("the cache is cold");
    const [first, latest] = window.filter((slot) => textOf(slot).includes("The parser is the cause."));
    expect(first?.message.parts).toEqual(reply.parts.slice(1));
    expect(first?.original).toBe(reply);
    expect(latest?.message).toBe(reply);
  });
});

describe("a cold cache", () => {
  const sizes = { toolTokens: 9_000, roomTokens: 32_000, lowTokens: 44_000, newTokens: 3_000 };
  const cached = { share: 0.8, isUncached: false };

  test("a cold cache triggers a rebuild if the window has enough tool output, and not again for little new output", () => {
    expect(isColdRebuildDue(sizes, cached)).toBe(true);
    expect(isColdRebuildDue({ ...sizes, newTokens: 1_000 }, cached)).toBe(false);
    expect(isColdRebuildDue({ ...sizes, toolTokens: 7_000 }, cached)).toBe(false);
    expect(isColdRebuildDue({ ...sizes, toolTokens: 5_000, roomTokens: 6_000 }, cached)).toBe(true);
    expect(isColdRebuildDue({ ...sizes, toolTokens: 4_000, roomTokens: 6_000 }, cached)).toBe(false);
  });

  test("a provider without a cache lets the window fill before a rebuild", () => {
    const uncached = { ...cached, isUncached: true };
    expect(isColdRebuildDue(sizes, uncached)).toBe(false);
    expect(isColdRebuildDue({ ...sizes, toolTokens: 30_000 }, uncached)).toBe(false);
    expect(isColdRebuildDue({ ...sizes, toolTokens: 30_000, newTokens: 5_000 }, uncached)).toBe(true);
  });
});

describe("a session that is taken over", () => {
  const [task, ...steps] = work(120) as [Message, ...Message[]];
  const line = "export const value_3_7 = compute(7);";
  const edits = ["first", "second"].flatMap((callId): readonly Message[] => [
    { role: "assistant", parts: [{ type: "tool-call", callId, name: "edit", input: { old_string: line } }] },
    { role: "tool", parts: [{ type: "tool-result", callId, output: [{ type: "text", text: "done" }] }] },
  ]);
  const all = slotsOf([task, ...steps.slice(0, 30), ...edits, ...steps.slice(30)], estimateMessage);
  const slots = all.slice(0, 125);
  const later = all.slice(125);

  test("a session that is taken over continues with the window as it was sent", () => {
    const window = fitAll(start(), slots);
    const run = start({
      window,
      past: slots.filter(({ seq }) => !window.some((own) => own.seq === seq)),
      calls: 60,
    });
    expect(run.fit({ isHot: true })).toEqual(window);
    expect(run.reason).toBeUndefined();
  });

  test("a session that is taken over can bring back content that left before", () => {
    const first = fitAll(start(), slots);
    const shown = new Set(first.filter(({ isNote }) => !isNote).map(({ seq }) => seq));
    const past = slots.filter(({ seq }) => !shown.has(seq));
    const run = start({ window: first, past, calls: 60 });
    const window = fitAll(run, later);
    expect(run.reason).toBe("over the limit");
    expect(window.map(textOf).join("\n")).toContain(line);
    expect(sizeOf(window)).toBeLessThanOrEqual(39_000);
  });

  test("a session that is taken over keeps a summary by another author", () => {
    const summary: Slot = {
      seq: 2,
      at: 2,
      message: { role: "user", parts: [{ type: "text", text: "Summary: the parser was moved" }] },
      tokens: 8,
      isNote: true,
    };
    const window = fitAll(start({ window: [slots[0] as Slot, summary] }), slots.slice(40));
    expect(window).toContain(summary);
  });
});
