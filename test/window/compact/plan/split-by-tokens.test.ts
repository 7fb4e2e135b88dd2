import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../../src/kernel/index.ts";
import { chooseCompactionAction } from "../../../../src/window/compact/auto-compaction.ts";
import { findCompactionSource } from "../../../../src/window/compact/plan/compaction-source.ts";
import { computeChunkTokens, splitByTokens } from "../../../../src/window/compact/plan/split-by-tokens.ts";
import { type Slot, sumSlotTokens } from "../../../../src/window/slot.ts";

const say = (seq: number, tokens: number, role: Message["role"] = "assistant"): Slot => ({
  seq,
  at: 0,
  message: { role, parts: [{ type: "text", text: `message ${seq}` }] },
  tokens,
});
const call = (seq: number, tokens: number): readonly Slot[] => [
  {
    ...say(seq, tokens),
    message: {
      role: "assistant",
      parts: [{ type: "tool-call", callId: `c${seq}`, name: "read", input: {} }],
    },
  },
  {
    ...say(seq + 1, tokens),
    message: { role: "tool", parts: [{ type: "tool-result", callId: `c${seq}`, output: [] }] },
  },
];

describe("parts", () => {
  test("parts are as large as the summarizer's window allows, and smaller where messages are large", () => {
    const small = Array.from({ length: 100 }, (_, at) => say(at, 100));
    const large = Array.from({ length: 5 }, (_, at) => say(at, 40_000));
    expect(computeChunkTokens(small, 100_000)).toBe(Math.floor((100_000 * 0.4) / 1.2));
    expect(computeChunkTokens(large, 100_000)).toBe(Math.floor((100_000 * 0.15) / 1.2));
  });

  test("parts hold every message once and in order, stay within the limit, and separate a call from its result only if both do not fit", () => {
    const slots = fc
      .array(fc.record({ isCall: fc.boolean(), tokens: fc.integer({ min: 1, max: 3_000 }) }), {
        minLength: 1,
      })
      .map((drawn) =>
        drawn.flatMap(({ isCall, tokens }, at) => (isCall ? call(2 * at, tokens) : [say(2 * at, tokens)])),
      );
    fc.assert(
      fc.property(slots, fc.integer({ min: 1, max: 4 }), (said, parts) => {
        const split = splitByTokens(said, { parts, mostTokens: 5_000 });
        expect(split.flat()).toEqual(said);
        for (const part of split) {
          const [first] = part;
          if (first?.message.role === "tool") expect(2 * first.tokens).toBeGreaterThan(5_000);
          expect(sumSlotTokens(part)).toBeLessThanOrEqual(5_000);
        }
      }),
    );
  });
});

describe("the messages to summarize", () => {
  const none = { pins: new Set<number>(), summaries: new Set<number>() };

  test("the messages to summarize lie between the first request and the last messages, with calls and results together", () => {
    const slots = [say(1, 10, "user"), ...call(2, 10), ...call(4, 10), ...call(6, 10)];
    const source = findCompactionSource(slots, none);
    expect(source?.slots.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(source?.stretches).toEqual([{ from: 2, to: 3 }]);
    expect(findCompactionSource(slots.slice(0, 4), none)).toBeUndefined();
  });

  test("the messages to summarize begin after the last summary, which the new summary replaces", () => {
    const slots = [
      say(1, 10, "user"),
      say(2, 10, "user"),
      ...Array.from({ length: 6 }, (_, at) => say(10 + at, 10)),
    ];
    const source = findCompactionSource(slots, { ...none, summaries: new Set([2]) });
    expect(source?.previous?.seq).toBe(2);
    expect(source?.slots.map(({ seq }) => seq)).toEqual([10, 11, 12]);
    expect(source?.stretches).toEqual([{ from: 2, to: 12 }]);
  });

  test("the messages to summarize leave out pins", () => {
    const slots = [say(1, 10, "user"), ...Array.from({ length: 8 }, (_, at) => say(2 + at, 10))];
    const source = findCompactionSource(slots, { ...none, pins: new Set([4]) });
    expect(source?.stretches).toEqual([
      { from: 2, to: 3 },
      { from: 5, to: 6 },
    ]);
  });
});

describe("the need of a summary", () => {
  const state = (tokens: number, messages = 10) => ({
    tokens,
    window: 100_000,
    messages,
    turns: 0,
    isForced: false,
    removable: { tokens, messages },
  });

  test("a summary is prepared at a soft mark, and due from the threshold or the limit of messages on", () => {
    expect(chooseCompactionAction(state(50_000), {})).toBe("none");
    expect(chooseCompactionAction(state(66_000), {})).toBe("prepare");
    expect(chooseCompactionAction(state(80_000), {})).toBe("compact");
    expect(chooseCompactionAction(state(50_000), { threshold: 50 })).toBe("compact");
    expect(chooseCompactionAction(state(1_000, 201), {})).toBe("compact");
    expect(chooseCompactionAction(state(1_000, 170), {})).toBe("prepare");
    expect(chooseCompactionAction(state(1_000, 201), { maxMessages: Number.POSITIVE_INFINITY })).toBe("none");
    expect(chooseCompactionAction({ ...state(50_000), isForced: true }, {})).toBe("compact");
  });

  test("the need of a summary counts only messages that the summary would replace", () => {
    const protectedState = { ...state(95_000), removable: { tokens: 4_000, messages: 8 } };
    expect(chooseCompactionAction(protectedState, {})).toBe("none");
    expect(chooseCompactionAction({ ...protectedState, isForced: true }, {})).toBe("none");
    const pinned = { ...state(1_000, 300), removable: { tokens: 900, messages: 9 } };
    expect(chooseCompactionAction(pinned, {})).toBe("none");
  });

  test("the next summary waits until a share of the window was said, and longer if the last attempt freed little", () => {
    const attempted = (freed: number, grown: number) => ({
      ...state(95_000),
      last: { freed: { tokens: freed, messages: 0 }, grown: { tokens: grown, messages: 0 }, turns: 0 },
    });
    expect(chooseCompactionAction(attempted(50_000, 4_999), {})).toBe("none");
    expect(chooseCompactionAction(attempted(50_000, 5_000), {})).toBe("compact");
    expect(chooseCompactionAction(attempted(4_000, 19_999), {})).toBe("none");
    expect(chooseCompactionAction(attempted(4_000, 20_000), {})).toBe("compact");
  });

  test("a summary is due after a number of turns since the last attempt, unless it would free next to nothing", () => {
    const talk = (turns: number, tokens = 6_000) => ({ ...state(tokens), turns });
    expect(chooseCompactionAction(talk(1_000), {})).toBe("none");
    expect(chooseCompactionAction(talk(7), { maxTurns: 10 })).toBe("none");
    expect(chooseCompactionAction(talk(8), { maxTurns: 10 })).toBe("prepare");
    expect(chooseCompactionAction(talk(10), { maxTurns: 10 })).toBe("compact");
    expect(chooseCompactionAction(talk(10, 4_000), { maxTurns: 10 })).toBe("none");
    const nothing = { tokens: 0, messages: 0 };
    const attempted = (turns: number) => ({ ...talk(30), last: { freed: nothing, grown: nothing, turns } });
    expect(chooseCompactionAction(attempted(7), { maxTurns: 10 })).toBe("none");
    expect(chooseCompactionAction(attempted(10), { maxTurns: 10 })).toBe("compact");
  });
});
